#include "libsvc/runtime/lxc/containers/adoption.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"

namespace svc::lxc {

namespace {

constexpr std::chrono::seconds first_pause{1};
constexpr std::chrono::seconds last_pause{60};

Duration pause_after(unsigned attempts) {
    return std::min<Duration>(last_pause, first_pause * (1U << std::min(attempts, 10U)));
}

}  // namespace

Adoption::Adoption(Host& host, ContainerTable& containers, ContainerRuns& runs)
    : host_(host), containers_(containers), runs_(runs), retries_(timer_clock_, "lxc-adoptions") {}

void Adoption::adopt_all() {
    std::vector<std::string> ids;
    for (const auto& entry : std::filesystem::directory_iterator(host_.layout().containers()))
        ids.push_back(entry.path().filename().native());
    for (const std::string& id : ids) adopt(id);
    // One that cannot be read may run, and keeps its network.
    std::map<std::string, ConnectedContainer> connected;
    const auto adopted = containers_.all();
    for (const auto& [id, container] : adopted)
        if (runs_.supervisor().find(id) || !container->fault.empty())
            if (auto found = host_.connected(container->stored.spec)) connected[id] = std::move(*found);
    host_.network().rebuild(std::move(connected));
    // After rebuild(), which would remove the rules of a container that is adopted meanwhile.
    for (const auto& [id, container] : adopted)
        if (!container->fault.empty()) adopt_later(id, container);
}

void Adoption::adopt(const std::string& id) {
    const ContainerPtr container = containers_.find_or_add(id);
    const ContainerLock lock(container->mutex);
    try_adopting(id, *container);
    if (!container->exists) containers_.erase(id, container);
}

void Adoption::adopt_later(const std::string& id, const ContainerPtr& container) {
    retries_.after(pause_after(container->attempts++), [this, id, container] {
        const ContainerLock lock(container->mutex);
        if (container->fault.empty()) return;  // removed meanwhile
        try_adopting(id, *container);
        if (!container->fault.empty()) return adopt_later(id, container);
        log::info("container can be read again", {{"container", id}});
        if (!runs_.supervisor().find(id)) return;
        if (const auto found = host_.connected(container->stored.spec)) host_.network().add(id, *found);
    });
}

// At start-up, a folder without spec.json is a leftover: the container was never finished, or is half
// removed. Where spec.json could not be read before, or records tell of data in it, its absence proves
// nothing.
bool Adoption::is_leftover(const std::string& id, const Container& container) const {
    const auto& holds_data = host_.options().holds_data;
    return container.fault.empty() && !(holds_data && is_there(host_.layout().upper(id)) && holds_data(id));
}

void Adoption::try_adopting(const std::string& id, Container& container) {
    try {
        auto stored = host_.records().read_spec(id);
        if (!stored && is_leftover(id, container)) return remove_leftover(id);
        if (!stored) throw LostSpecification("spec.json is missing");
        adopt_readable(id, container, std::move(*stored));
        clear_fault(container);
    } catch (const LostSpecification& e) {
        set_fault(id, container, e.what());
        container.spec_lost = true;
    } catch (const std::exception& e) {
        set_fault(id, container, e.what());
    }
}

void Adoption::remove_leftover(const std::string& id) {
    try {
        StoredSpec leftover;
        leftover.spec.id = id;
        host_.clean_up(id);
        host_.remove_files(leftover);
    } catch (const Error& e) {
        log::warning("rest of a container cannot be removed", {{"container", id}, {"error", e.what()}});
    }
}

// All that may fail comes before anything is changed or ended.
void Adoption::adopt_readable(const std::string& id, Container& container, StoredSpec stored) {
    const auto known = host_.records().read_run(id);
    const auto run = runs_.find_run(id);
    const bool guest_runs = run && !run->once;
    if (guest_runs) check_descriptors(id);
    std::optional<RunHandles> unfinished;
    if (run && run->once) unfinished = open_run(*run);
    if (!run && known && !known->stopped) unfinished = open_run(*known);
    container.stored = std::move(stored);
    container.started = guest_runs || (known && known->started_at);
    if (guest_runs)
        follow(id, container, *run);
    else if (unfinished)
        runs_.container_end().end(id, *unfinished, {}, Duration::zero());
    else
        host_.clean_up(id);
    host_.layers().claim_known(container.stored.spec.layers);
    container.exists = true;
}

// A run.json that cannot be written is no reason to give the container up: its monitor knows the pids.
void Adoption::follow(const std::string& id, const Container& container, const RunRecord& run) {
    host_.remember_cores(id);
    try {
        host_.records().write_run(id, run);
    } catch (const Error& e) {
        log::warning("run.json of a container cannot be written", {{"container", id}, {"error", e.what()}});
    }
    runs_.follow(id, container, run);
}

void Adoption::set_fault(const std::string& id, Container& container, const std::string& reason) {
    if (container.fault != reason)
        log::error("container cannot be read and is left as it is", {{"container", id}, {"error", reason}});
    if (container.fault.empty()) host_.layers().claim_all();
    container.fault = reason;
    container.spec_lost = false;
    container.stored.spec.id = id;
    container.exists = true;
}

void Adoption::clear_fault(Container& container) {
    if (!std::exchange(container.fault, {}).empty()) host_.layers().release_all();
    container.spec_lost = false;
}

void Adoption::recreate_spec(Container& container, const ContainerSpec& spec) {
    host_.recreate_spec(spec);
    try_adopting(spec.id, container);
    check_readable(spec.id, container);
    log::warning("spec.json of a container was lost and is made anew", {{"container", spec.id}});
    if (!runs_.supervisor().find(spec.id)) return;
    if (const auto found = host_.connected(container.stored.spec)) host_.network().add(spec.id, *found);
}

void Adoption::kill(const std::string& id) {
    try {
        if (const auto run = runs_.find_run(id))
            return runs_.container_end().end(id, open_run(*run), {}, Duration::zero());
    } catch (const Error& e) {
        log::warning("container is ended by its control group alone",
                     {{"container", id}, {"error", e.what()}});
    }
    host_.clean_up(id);
}

}  // namespace svc::lxc
