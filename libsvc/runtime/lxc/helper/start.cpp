// svc-lxc start: forks the container's monitor, which stays when this process ends.
#include <lxc/lxccontainer.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

namespace {

// The daemon finds the monitor in a file of the container's folder, whatever happens to the helper from now
// on. Until it is there, the monitor ends with the helper.
void record_monitor(const lxc_container* container, pid_t helper) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != helper) ::_exit(1);
    failpoint("monitor.forked");
    char file[4096];
    std::snprintf(file, sizeof file, "%s/%s/monitor", container->config_path, container->name);
    if (!write_process_file(file, ::getpid())) ::_exit(1);
    failpoint("monitor.recorded");
    ::prctl(PR_SET_PDEATHSIG, 0);
}

// Runs the container in the foreground, unlike lxc-start: so this process gets the status of init and writes
// it.
[[noreturn]] void be_monitor(lxc_container* container, const char* exit_file, char** command, int lock,
                             pid_t helper) {
    record_monitor(container, helper);
    ::setsid();
    use_null_stdio();
    ::close(control_fd);
    ::close(lock);  // only now: a next daemon waits for it before it looks for the monitor
    if (::chdir("/") != 0) ::_exit(1);
    failpoint("monitor.starts");
    container->want_daemonize(container, false);
    // The descriptor of the user namespace must stay: a guest that restarts itself needs it again.
    container->want_close_all_fds(container, false);
    const bool started = use_own_user_namespace(container) && container->start(container, 0, command);
    failpoint("monitor.ended");
    // liblxc's status of init: exit code << 8, or signal << 8 | 0x7f; -1 when init never ran.
    char line[32];
    std::snprintf(line, sizeof line, "%d\n",
                  started || container->error_num != 0 ? container->error_num : -1);
    replace_file(exit_file, line);
    ::_exit(0);
}

// The monitor answers on its socket only after init has been executed. Polls every millisecond until the
// socket exists: liblxc's own wait sleeps for whole seconds.
pid_t wait_for_init(lxc_container* container, int monitor) {
    for (;;) {
        const pid_t init = container->init_pid(container);
        if (init > 0 && delegation_was_asked()) return init;
        if (init > 0) ::kill(init, SIGKILL);  // it may own what it must not
        if (is_readable(monitor, 1)) return 0;
    }
}

}  // namespace

int start_container(lxc_container* container, const char* exit_file, bool agent, int lock) {
    HelperMessage message;
    message.event = HelperEvent::running;
    const pid_t helper = ::getpid();
    message.monitor_pid = ::fork();
    if (message.monitor_pid == 0) be_monitor(container, exit_file, nullptr, lock, helper);
    if (message.monitor_pid < 0) return send_failure("cannot fork"), 1;
    failpoint("helper.forked");
    const int monitor = open_pidfd(message.monitor_pid);
    message.init_pid = wait_for_init(container, monitor);
    if (message.init_pid <= 0) {
        ::waitpid(message.monitor_pid, nullptr, 0);
        return send_failure("init was not started"), 1;
    }
    failpoint("helper.init_runs");
    if (agent) message.agent_pid = attach_agent(container);
    failpoint("helper.agent_runs");
    // An init that fails at once has ended by now: entering the container took long enough.
    if (is_readable(monitor, message.agent_pid > 0 ? 0 : 5) || is_ending(message.init_pid)) {
        ::waitpid(message.monitor_pid, nullptr, 0);
        return send_failure("init ended at once"), 1;
    }
    // Where the daemon has ended, the container stays: the next daemon finds it by its socket.
    return send_message(message) ? 0 : 1;
}

// The command may have ended already; then its exit status is in the file that the monitor writes.
int run_once(lxc_container* container, const char* exit_file, char** command, int lock) {
    HelperMessage message;
    message.event = HelperEvent::running;
    const pid_t helper = ::getpid();
    message.monitor_pid = ::fork();
    if (message.monitor_pid == 0) be_monitor(container, exit_file, command, lock, helper);
    if (message.monitor_pid < 0) return send_failure("cannot fork"), 1;
    failpoint("helper.once_forked");
    message.init_pid = wait_for_init(container, open_pidfd(message.monitor_pid));
    if (message.init_pid <= 0) {
        ::waitpid(message.monitor_pid, nullptr, 0);
        message.monitor_pid = 0;
    }
    return send_message(message) ? 0 : 1;
}

int enter_agent(lxc_container* container, bool agent) {
    HelperMessage message;
    message.event = HelperEvent::running;
    message.init_pid = container->init_pid(container);
    if (message.init_pid <= 0) {
        message.event = HelperEvent::not_running;
        std::snprintf(message.text, sizeof message.text, "not running");
        return send_message(message), 1;
    }
    message.monitor_pid = read_stat(message.init_pid).parent;
    if (agent && (message.agent_pid = attach_agent(container)) == 0)
        return send_failure("agent was not started"), 1;
    return send_message(message) ? 0 : 1;
}

}  // namespace svc::lxc
