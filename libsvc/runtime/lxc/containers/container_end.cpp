#include "libsvc/runtime/lxc/containers/container_end.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/runtime/lxc/processes/busybox_init.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc::lxc {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds process_kill_limit{10'000};
constexpr milliseconds reboot_limit{1'000};
constexpr milliseconds first_look{4};
constexpr milliseconds longest_look{16};

// Of the monitor or the init, which do not end while a command of the container is not reaped. False as well
// when `is_over`, which is asked now and then, says that there is nothing to wait for.
bool container_ends(int process, milliseconds limit, const std::function<bool()>& is_over = {}) {
    const auto deadline = deadline_after(limit);
    for (milliseconds pause = first_look;; pause = std::min(pause * 2, longest_look)) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
        if (wait_for_end(process, std::clamp(left, milliseconds(0), pause))) return true;
        if (left <= pause || (is_over && is_over())) return false;
        reap_lost_commands();
    }
}

}  // namespace

RunHandles open_run(const RunRecord& run) {
    return {run, open_process(run.monitor), open_process(run.init)};
}

void ContainerEnd::end(const std::string& id, const RunHandles& run, const HaltSignals& halt,
                       Duration grace) {
    const int monitor = run.monitor.get();
    const int init = run.init.get();
    host_.thaw(id);
    for (const int signal : halt.numbers) send_signal(init, signal);
    failpoint("end.signalled");
    bool gone = !halt.numbers.empty() && shuts_down(id, run, halt, grace);
    if (!gone) {
        send_signal(init, SIGKILL);
        gone = container_ends(monitor, reboot_limit);
    }
    if (!gone) {
        // A guest that was just restarting has another init than the recorded one.
        kill_present_init(id);
        gone = container_ends(monitor, process_kill_limit);
    }
    if (!gone) {
        send_signal(monitor, SIGKILL);
        container_ends(monitor, process_kill_limit);
    }
    failpoint("end.monitor_ended");
    // Without its monitor the init is a child of this process now.
    send_signal(init, SIGKILL);
    container_ends(init, process_kill_limit);
    record_stop(id, run.run);
}

bool ContainerEnd::shuts_down(const std::string& id, const RunHandles& run, const HaltSignals& halt,
                              Duration grace) const {
    std::function<bool()> is_over;
    if (halt.sleeps_at_end) is_over = [&] { return only_sleeps(id, run.run.init.pid); };
    return container_ends(run.monitor.get(), std::chrono::ceil<milliseconds>(grace), is_over);
}

// Asked again at the end: a process that came meanwhile is waited for. The init would have synced once more.
bool ContainerEnd::only_sleeps(const std::string& id, pid_t init) const {
    const auto idle = [&] { return is_asleep_at_end(init) && host_.is_alone(id, init); };
    try {
        if (!idle()) return false;
        host_.sync_disk(id);
        return idle();
    } catch (const Error& e) {
        log::debug("a container is left to its init", {{"container", id}, {"error", e.what()}});
        return false;
    }
}

FileDescriptor ContainerEnd::kill(const std::string& id, const RunHandles& run) {
    if (host_.monitor_cleans_up(id)) return end(id, run, {}, Duration::zero()), FileDescriptor();
    const std::array<int, 2> processes = {run.monitor.get(), run.init.get()};
    for (const int process : processes) send_signal(process, SIGKILL);
    failpoint("end.killed");
    host_.thaw(id);
    bool gone = true;
    for (const int process : processes) gone = container_ends(process, process_kill_limit) && gone;
    if (gone) return host_.clean_up_dead(id);
    return host_.clean_up(id), FileDescriptor();
}

void ContainerEnd::kill_present_init(const std::string& id) const {
    try {
        if (const auto now = supervisor_.query(id)) send_signal(open_process(now->init).get(), SIGKILL);
    } catch (const Error& e) {
        log::debug("monitor of a container does not tell the pid of init",
                   {{"container", id}, {"error", e.what()}});
    }
}

void ContainerEnd::record_stop(const std::string& id, RunRecord run) {
    host_.clean_up(id);
    run.stopped = true;
    host_.records().write_run(id, run);
}

}  // namespace svc::lxc
