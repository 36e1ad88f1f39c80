#include "libsvc/runtime/lxc/engine.h"

#include <fmt/format.h>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/rollback.h"
#include "libsvc/runtime/lxc/container/guest_logs.h"
#include "libsvc/runtime/lxc/processes/exec_process.h"
#include "libsvc/runtime/lxc/usage/link_usage.h"

namespace svc {

using lxc::RunRecord;

LxcRuntime::Engine::Engine(LxcOptions options, const Clock& clock)
    : clock_(clock),
      host_(std::move(options)),
      disk_usage_(clock),
      supervisor_(host_.options().helper, host_.layout().containers(),
                  {[this](const std::string& id) { return ended(id); },
                   [this](const std::string& id) { return changed(id); }}),
      adoptions_(timer_clock_, "lxc-adoptions") {
    host_.layers().set_capture(
        [this](const std::string& name, const std::string& id, const std::vector<std::string>& leave_out) {
            capture(name, id, leave_out);
        });
    adopt_all();
}

LxcRuntime::Engine::ContainerPtr LxcRuntime::Engine::find(const std::string& id) const {
    return containers_.with([&](const auto& containers) {
        const auto found = containers.find(id);
        return found == containers.end() ? nullptr : found->second;
    });
}

LxcRuntime::Engine::ContainerPtr LxcRuntime::Engine::require(const std::string& id) const {
    if (ContainerPtr container = find(id)) return container;
    throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
}

LxcRuntime::Engine::ContainerPtr LxcRuntime::Engine::find_or_add(const std::string& id) {
    return containers_.with([&](auto& containers) {
        ContainerPtr& container = containers[id];
        if (!container) container = std::make_shared<LxcContainer>();
        return container;
    });
}

void LxcRuntime::Engine::drop(const std::string& id, const ContainerPtr& container) {
    containers_.with([&](auto& containers) {
        if (const auto found = containers.find(id); found != containers.end() && found->second == container)
            containers.erase(found);
    });
}

// A removed container leaves the map while others may still wait for its turn: they must then look again.
void LxcRuntime::Engine::create(const ContainerSpec& spec) {
    const ContainerPtr container = find_or_add(spec.id);
    const Lock turn(container->turn);
    if (find(spec.id) != container) return create(spec);
    check_readable(spec.id, *container);
    if (container->exists) return take_over(*container, spec);
    Rollback undo;
    undo.add("container record", [&] { drop(spec.id, container); });
    host_.layers().claim(spec.layers);
    undo.add("layers", [&] { host_.layers().release(spec.layers); });
    lxc::StoredSpec stored{spec, host_.choose_project(spec), {}};
    host_.make(stored);
    stored.spec.files.clear();
    container->stored = std::move(stored);
    container->exists = container->fresh = true;
    undo.dismiss();
}

// A stopped container keeps its files and gets the new address, ports, limits and placed files.
void LxcRuntime::Engine::take_over(LxcContainer& container, const ContainerSpec& spec) {
    end_once(spec.id, container);
    const bool running = is_running(spec.id, container);
    const bool same = lxc::same_container(container.stored.spec, spec);
    if (running && same) return;
    if (running || container.stored.spec.layers != spec.layers)
        throw Error(ErrorCode::conflict,
                    fmt::format("container '{}' exists with another specification", spec.id));
    lxc::StoredSpec stored{spec, container.stored.project, container.stored.placed};
    host_.make_again(stored);
    stored.spec.files.clear();
    container.stored = std::move(stored);
}

void LxcRuntime::Engine::remove(const std::string& id) {
    const ContainerPtr container = find(id);
    if (!container) return;
    const Lock turn(container->turn);
    if (!container->exists) return;
    const bool readable = container->fault.empty();
    FileDescriptor mount = readable ? kill_locked(id, *container) : kill_unreadable(id);
    host_.remove_files(container->stored);
    host_.unmount_later(std::move(mount));
    if (readable) host_.layers().release(container->stored.spec.layers);
    clear_fault(*container);
    container->exists = false;
    drop(id, container);
}

ContainerInfo LxcRuntime::Engine::describe(const std::string& id, const LxcContainer& container) {
    ContainerInfo info;
    info.id = id;
    if (const auto run = supervisor_.find(id)) {
        info.state = ContainerState::running;
        info.started_at = run->started_at;
        info.init_pid = run->init.pid;
        info.agent_state = supervisor_.agent_state(id);
    } else if (!container.fault.empty()) {
        info.state = ContainerState::unreadable;
        info.fault = container.fault;
    } else {
        info.state = container.started ? ContainerState::stopped : ContainerState::created;
    }
    return info;
}

std::optional<ContainerInfo> LxcRuntime::Engine::inspect(const std::string& id) {
    const ContainerPtr container = find(id);
    if (!container) return std::nullopt;
    if (const auto run = supervisor_.find(id))
        return describe(id, *container);  // without waiting for its turn
    const Lock turn(container->turn);
    if (!container->exists) return std::nullopt;
    return describe(id, *container);
}

std::vector<ContainerInfo> LxcRuntime::Engine::list() {
    const auto containers = containers_.with([](const auto& all) { return all; });
    std::vector<ContainerInfo> infos;
    for (const auto& [id, container] : containers)
        if (auto info = inspect(id)) infos.push_back(std::move(*info));
    return infos;
}

// Its limit is under its turn: left out while somebody else has that.
ContainerUsage LxcRuntime::Engine::usage_of(const std::string& id, LxcContainer& container,
                                            const std::map<std::string, NetworkUsage, std::less<>>& devices) {
    ContainerUsage usage = host_.usage(id, devices);
    const Lock turn(container.turn, std::try_to_lock);
    if (!turn) return usage;
    if (container.stored.spec.disk_bytes != 0) usage.disk_limit_bytes = container.stored.spec.disk_bytes;
    usage.disk_bytes = host_.quota_usage(container.stored.project);
    return usage;
}

std::vector<ContainerUsage> LxcRuntime::Engine::usage() {
    const auto containers = containers_.with([](const auto& all) { return all; });
    const auto devices = lxc::parse_devices(read_file("/proc/net/dev"));
    disk_usage_.begin_round();
    std::vector<ContainerUsage> usages;
    for (const auto& [id, container] : containers) {
        if (!supervisor_.find(id)) continue;
        ContainerUsage usage = usage_of(id, *container, devices);
        if (!usage.disk_bytes) usage.disk_bytes = disk_usage_.bytes(id, host_.layout().upper(id));
        usages.push_back(std::move(usage));
    }
    return usages;
}

std::unique_ptr<ExecProcess> LxcRuntime::Engine::exec(const std::string& id, const ExecSpec& spec) {
    const ContainerPtr container = require(id);
    if (!supervisor_.find(id)) {
        const Lock turn(container->turn);
        check_readable(id, *container);
    }
    if (!supervisor_.find(id))
        throw Error(ErrorCode::conflict, fmt::format("container '{}' is not running", id));
    return lxc::run_exec({host_.options().helper, host_.layout().containers(), id, host_.id_base()}, spec);
}

std::vector<LogFile> LxcRuntime::Engine::logs(const std::string& id) {
    require(id);
    std::vector<LogFile> logs;
    std::error_code ignored;
    if (const auto path = host_.layout().console_log(id);
        std::filesystem::file_size(path, ignored) > 0 && !ignored)
        logs.push_back({"console.log", path});
    if (const auto path = host_.layout().lxc_log(id);
        std::filesystem::file_size(path, ignored) > 0 && !ignored)
        logs.push_back({"container.log", path});
    if (!supervisor_.find(id))
        for (LogFile& log : lxc::guest_logs(host_.layout().upper(id))) logs.push_back(std::move(log));
    return logs;
}

void LxcRuntime::Engine::listen(std::function<void(const RuntimeEvent&)> listener) {
    listener_.with([&](auto& current) { current = std::move(listener); });
}

void LxcRuntime::Engine::tear_down() {
    if (!list().empty()) throw Error(ErrorCode::busy, "containers exist still");
    host_.tear_down();
}

}  // namespace svc
