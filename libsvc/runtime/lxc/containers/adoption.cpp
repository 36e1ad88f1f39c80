// Taking over the containers that an earlier daemon has left. What cannot be read stays as it is, however
// long that takes: its disk may be all there is of it.
#include <fmt/format.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/runtime/lxc/engine.h"

namespace svc {

using lxc::RunRecord;

namespace {

constexpr std::chrono::seconds first_pause{1};
constexpr std::chrono::seconds last_pause{60};

Duration pause_after(unsigned attempts) {
    return std::min<Duration>(last_pause, first_pause * (1U << std::min(attempts, 10U)));
}

}  // namespace

void check_readable(const std::string& id, const LxcContainer& container) {
    if (container.fault.empty()) return;
    throw Error(ErrorCode::unavailable,
                fmt::format("container '{}' cannot be read: {}", id, container.fault));
}

void LxcRuntime::Engine::adopt_all() {
    std::vector<std::string> ids;
    for (const auto& entry : std::filesystem::directory_iterator(host_.layout().containers()))
        ids.push_back(entry.path().filename().native());
    for (const std::string& id : ids) adopt(id);
    std::map<std::string, lxc::ForwardedContainer> forwarded;
    const auto adopted = containers_.with([](const auto& containers) { return containers; });
    for (const auto& [id, container] : adopted)
        if (supervisor_.find(id)) forwarded[id] = host_.forwarded(container->stored.spec);
    host_.network().rebuild(std::move(forwarded));
    for (const auto& [id, container] : adopted)  // not before: the rules above would leave it out
        if (!container->fault.empty()) adopt_later(id, container);
}

void LxcRuntime::Engine::adopt(const std::string& id) {
    const ContainerPtr container = find_or_add(id);
    const Lock turn(container->turn);
    try_adopting(id, *container);
    if (!container->exists) drop(id, container);
}

void LxcRuntime::Engine::adopt_later(const std::string& id, const ContainerPtr& container) {
    adoptions_.after(pause_after(container->attempts++), [this, id, container] {
        const Lock turn(container->turn);
        if (container->fault.empty()) return;  // removed meanwhile
        try_adopting(id, *container);
        if (!container->fault.empty()) return adopt_later(id, container);
        log::info("container can be read again", {{"container", id}});
        if (supervisor_.find(id)) host_.forward_ports(container->stored.spec);
    });
}

// Without spec.json, at the start, it was never finished or is removed by half. Of one that could not be read
// before, its absence means nothing.
void LxcRuntime::Engine::try_adopting(const std::string& id, LxcContainer& container) {
    try {
        auto stored = host_.read_spec(id);
        if (!stored && container.fault.empty()) return sweep(id);
        if (!stored) throw Error(ErrorCode::internal, "spec.json is missing");
        adopt_readable(id, container, std::move(*stored));
        clear_fault(container);
    } catch (const std::exception& e) {
        set_fault(id, container, e.what());
    }
}

void LxcRuntime::Engine::sweep(const std::string& id) {
    try {
        lxc::StoredSpec leftover;
        leftover.spec.id = id;
        host_.clean_up(id);
        host_.remove_files(leftover);
    } catch (const Error& e) {
        log::warning("rest of a container cannot be removed", {{"container", id}, {"error", e.what()}});
    }
}

// What may fail comes before anything is changed or ended.
void LxcRuntime::Engine::adopt_readable(const std::string& id, LxcContainer& container,
                                        lxc::StoredSpec stored) {
    const auto known = host_.read_run(id);
    const auto run = find_running(id);
    const bool guest = run && !run->once;
    if (guest) check_descriptors(id);
    std::optional<lxc::Supervisor::Released> left;
    if (run && run->once) left = released(*run);
    if (!run && known && !known->stopped) left = released(*known);
    container.stored = std::move(stored);
    container.started = guest || (known && known->started_at);
    if (guest)
        follow_adopted(id, container, *run);
    else if (left)
        end(id, *left, {}, Duration::zero());
    else
        host_.clean_up(id);
    host_.layers().claim_known(container.stored.spec.layers);
    container.exists = true;
}

// Its monitor tells what run.json could not be told.
void LxcRuntime::Engine::follow_adopted(const std::string& id, const LxcContainer& container,
                                        const RunRecord& run) {
    host_.remember_cores(id);
    try {
        host_.write_run(id, run);
    } catch (const Error& e) {
        log::warning("run.json of a container cannot be written", {{"container", id}, {"error", e.what()}});
    }
    supervisor_.follow(id, run, wants_agent(container));
}

void LxcRuntime::Engine::set_fault(const std::string& id, LxcContainer& container,
                                   const std::string& reason) {
    if (container.fault != reason)
        log::error("container cannot be read and is left as it is", {{"container", id}, {"error", reason}});
    if (container.fault.empty()) host_.layers().claim_all();
    container.fault = reason;
    container.stored.spec.id = id;
    container.exists = true;
}

void LxcRuntime::Engine::clear_fault(LxcContainer& container) {
    if (!std::exchange(container.fault, {}).empty()) host_.layers().release_all();
}

// Somebody wants it to go. Whatever of it can be found ends.
FileDescriptor LxcRuntime::Engine::kill_unreadable(const std::string& id) {
    try {
        if (const auto run = find_running(id))
            return end(id, released(*run), {}, Duration::zero()), FileDescriptor();
    } catch (const Error& e) {
        log::warning("container is ended by its control group alone",
                     {{"container", id}, {"error", e.what()}});
    }
    host_.clean_up(id);
    return {};
}

}  // namespace svc
