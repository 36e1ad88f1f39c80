#include "libsvc/runtime/lxc/lxc_runtime.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/rollback.h"
#include "libsvc/runtime/lxc/container/guest_logs.h"
#include "libsvc/runtime/lxc/processes/exec_process.h"
#include "libsvc/runtime/lxc/usage/link_usage.h"

namespace svc {

using lxc::Container;
using lxc::ContainerLock;
using lxc::ContainerPtr;

namespace {

Error container_not_found(const std::string& id) {
    return {ErrorCode::not_found, fmt::format("container '{}' not found", id)};
}

Error not_running(const std::string& id) {
    return {ErrorCode::conflict, fmt::format("container '{}' is not running", id)};
}

void add_log(std::vector<LogFile>& logs, std::string name, const std::filesystem::path& path) {
    std::error_code failed;
    if (std::filesystem::file_size(path, failed) > 0 && !failed) logs.push_back({std::move(name), path});
}

}  // namespace

LxcRuntime::LxcRuntime(LxcOptions options, const Clock& clock)
    : host_(std::move(options)),
      disk_usage_(clock),
      runs_(host_, containers_, clock),
      once_commands_(host_, containers_, runs_),
      adoption_(host_, containers_, runs_) {
    // A monitor outlives the helper that started it; then it becomes a child of this process, which reaps it.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    using Texts = std::vector<std::string>;
    host_.layers().set_disk_calls(
        {[this](const std::string& layer, const std::string& id, const Texts& leave_out) {
             if (was_made_before(layer, id)) return;
             with_idle(id, [&](const auto& stored) { host_.capture(stored, layer, leave_out); });
         },
         [this](const std::string& layer, const std::string& id, const Texts& leave_out,
                const std::stop_token& stop) {
             if (was_made_before(layer, id)) return;
             with_idle(id, [&](const auto& stored) { host_.snapshot(stored, layer, leave_out, stop); });
         },
         [this](const std::string& layer, const std::string& id, const std::stop_token& stop) {
             with_idle(id, [&](const auto& stored) { host_.restore(stored, layer, stop); });
         }});
    adoption_.adopt_all();
}

void LxcRuntime::create(const ContainerSpec& spec) {
    const ContainerPtr container = containers_.find_or_add(spec.id);
    const ContainerLock lock(container->mutex);
    if (containers_.find(spec.id) != container) return create(spec);  // removed while this call waited
    if (container->spec_lost) adoption_.recreate_spec(*container, spec);
    check_readable(spec.id, *container);
    if (container->exists) return replace_spec(*container, spec);
    Rollback undo;
    undo.add("container record", [&] { containers_.erase(spec.id, container); });
    host_.layers().claim(spec.layers);
    undo.add("layers", [&] { host_.layers().release(spec.layers); });
    lxc::StoredSpec stored{spec, host_.choose_project(spec), {}};
    host_.make(stored);
    stored.spec.files.clear();
    container->stored = std::move(stored);
    container->exists = container->fresh = true;
    undo.dismiss();
}

void LxcRuntime::recreate_spec(const ContainerSpec& spec) {
    const ContainerPtr container = containers_.get(spec.id);
    const ContainerLock lock(container->mutex);
    if (!container->exists) throw container_not_found(spec.id);
    if (container->spec_lost) adoption_.recreate_spec(*container, spec);
    check_readable(spec.id, *container);
}

// A stopped container keeps its files and gets the new address, ports, limits and placed files.
void LxcRuntime::replace_spec(Container& container, const ContainerSpec& spec) {
    runs_.end_once(spec.id, container);
    const bool running = runs_.is_running(spec.id, container);
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

void LxcRuntime::start(std::string_view text) {
    const std::string id(text);
    const ContainerPtr container = containers_.get(id);
    const ContainerLock lock(container->mutex);
    if (!container->exists) throw container_not_found(id);
    check_readable(id, *container);
    runs_.end_once(id, *container);
    if (!runs_.is_running(id, *container)) runs_.start(id, *container);
}

void LxcRuntime::stop(std::string_view text, Duration grace) {
    const std::string id(text);
    const ContainerPtr container = containers_.find(id);
    if (!container) return;
    const ContainerLock lock(container->mutex);
    check_readable(id, *container);
    if (container->exists) runs_.stop(id, *container, grace);
}

void LxcRuntime::with_running(const std::string& id, const std::function<void()>& use) {
    const ContainerPtr container = containers_.get(id);
    const ContainerLock lock(container->mutex);
    if (!container->exists) throw container_not_found(id);
    check_readable(id, *container);
    if (container->once || !runs_.is_running(id, *container)) throw not_running(id);
    use();
}

// Not while a helper is on its way into the container: it would be frozen there, and hold its lock.
void LxcRuntime::freeze(std::string_view text) {
    const std::string id(text);
    with_running(id, [&] {
        const FileDescriptor lock =
            host_.is_frozen(id) ? FileDescriptor() : host_.records().lock_out_helpers(id);
        host_.freeze(id);
        failpoint("runtime.frozen");
    });
}

void LxcRuntime::thaw(std::string_view text) {
    const std::string id(text);
    with_running(id, [&] {
        host_.thaw(id);
        failpoint("runtime.thawed");
        if (host_.is_frozen(id))
            throw Error(ErrorCode::unavailable, fmt::format("container '{}' cannot be thawed", id));
    });
}

int LxcRuntime::run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                         std::stop_token stop) {
    return once_commands_.run(std::string(id), command, limit, stop);
}

void LxcRuntime::remove(std::string_view text) {
    const std::string id(text);
    const ContainerPtr container = containers_.find(id);
    if (!container) return;
    const ContainerLock lock(container->mutex);
    if (!container->exists) return;
    FileDescriptor mount;
    const bool readable = container->fault.empty();
    if (readable)
        mount = runs_.kill(id, *container);
    else
        adoption_.kill(id);
    host_.remove_files(container->stored);
    host_.unmount_later(std::move(mount));
    if (readable) host_.layers().release(container->stored.spec.layers);
    adoption_.clear_fault(*container);
    container->exists = false;
    containers_.erase(id, container);
}

bool LxcRuntime::was_made_before(const std::string& layer, const std::string& id) {
    return !containers_.find(id) && host_.layers().contains(layer);
}

void LxcRuntime::with_idle(const std::string& id, const std::function<void(const lxc::StoredSpec&)>& use) {
    const ContainerPtr container = containers_.find(id);
    if (!container) throw container_not_found(id);
    const ContainerLock lock(container->mutex);
    if (!container->exists) throw container_not_found(id);
    check_readable(id, *container);
    if (container->once || runs_.is_running(id, *container))
        throw Error(ErrorCode::busy, fmt::format("container '{}' is running", id));
    container->copying = true;
    Rollback done;
    done.add("copying", [&] { container->copying = false; });
    use(container->stored);
}

ContainerInfo LxcRuntime::describe(const std::string& id, const Container& container) const {
    ContainerInfo info;
    info.id = id;
    if (const auto run = runs_.supervisor().find(id)) {
        info.state = ContainerState::running;
        info.started_at = run->started_at;
        info.frozen = host_.is_frozen(id);
        info.init_pid = run->init.pid;
        info.agent_state = runs_.supervisor().agent_state(id);
    } else if (!container.fault.empty()) {
        info.state = ContainerState::unreadable;
        info.fault = container.fault;
        info.specification_lost = container.spec_lost;
    } else {
        info.state = container.started ? ContainerState::stopped : ContainerState::created;
    }
    return info;
}

std::optional<ContainerInfo> LxcRuntime::inspect(std::string_view text) {
    const std::string id(text);
    const ContainerPtr container = containers_.find(id);
    if (!container) return std::nullopt;
    if (runs_.supervisor().find(id)) return describe(id, *container);  // without waiting for its lock
    if (container->copying) {
        ContainerInfo info;
        info.id = id;
        info.state = ContainerState::stopped;
        return info;
    }
    const ContainerLock lock(container->mutex);
    if (!container->exists) return std::nullopt;
    return describe(id, *container);
}

std::vector<ContainerInfo> LxcRuntime::list() {
    std::vector<ContainerInfo> infos;
    for (const auto& [id, container] : containers_.all())
        if (auto info = inspect(id)) infos.push_back(std::move(*info));
    return infos;
}

std::optional<ContainerSpec> LxcRuntime::specification(std::string_view text) {
    const ContainerPtr container = containers_.find(std::string(text));
    if (!container) return std::nullopt;
    const ContainerLock lock(container->mutex);
    if (!container->exists || !container->fault.empty()) return std::nullopt;
    return container->stored.spec;
}

// The disk's limit and use are left out while another thread has the container locked.
ContainerUsage LxcRuntime::usage_of(const std::string& id, Container& container,
                                    const DeviceCounters& devices) {
    ContainerUsage usage = host_.usage(id, devices);
    const ContainerLock lock(container.mutex, std::try_to_lock);
    if (!lock) return usage;
    if (container.stored.spec.disk_bytes != 0) usage.disk_limit_bytes = container.stored.spec.disk_bytes;
    usage.disk_bytes = host_.quota_usage(container.stored.project);
    return usage;
}

std::vector<ContainerUsage> LxcRuntime::usage() {
    const auto devices = lxc::parse_devices(read_file("/proc/net/dev"));
    disk_usage_.begin_round();
    std::vector<ContainerUsage> usages;
    for (const auto& [id, container] : containers_.all()) {
        if (!runs_.supervisor().find(id)) continue;
        ContainerUsage usage = usage_of(id, *container, devices);
        if (!usage.disk_bytes) usage.disk_bytes = disk_usage_.bytes(id, host_.layout().upper(id));
        usages.push_back(std::move(usage));
    }
    return usages;
}

std::unique_ptr<ExecProcess> LxcRuntime::exec(std::string_view text, const ExecSpec& spec) {
    const std::string id(text);
    const ContainerPtr container = containers_.get(id);
    if (!runs_.supervisor().find(id)) {
        const ContainerLock lock(container->mutex);
        check_readable(id, *container);
    }
    if (!runs_.supervisor().find(id)) throw not_running(id);
    if (host_.is_frozen(id)) throw Error(ErrorCode::conflict, fmt::format("container '{}' is frozen", id));
    return lxc::run_exec({host_.helper_of(id), host_.layout().containers(), id, host_.root_of(id),
                          [this, id](int command) { host_.let_killed_end(id, command); }},
                         spec);
}

std::vector<LogFile> LxcRuntime::logs(std::string_view text) {
    const std::string id(text);
    containers_.get(id);
    std::vector<LogFile> logs;
    add_log(logs, "console.log", host_.layout().console_log(id));
    add_log(logs, "container.log", host_.layout().lxc_log(id));
    if (!runs_.supervisor().find(id))
        for (LogFile& log : lxc::guest_logs(host_.layout().upper(id))) logs.push_back(std::move(log));
    return logs;
}

void LxcRuntime::on_event(std::function<void(const RuntimeEvent&)> listener) {
    runs_.listen(std::move(listener));
}

void LxcRuntime::tear_down() {
    if (!list().empty()) throw Error(ErrorCode::busy, "containers exist still");
    host_.tear_down();
}

}  // namespace svc
