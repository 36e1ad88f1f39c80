#include <linux/magic.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/command.h"
#include "libsvc/runtime/lxc/helper/control.h"
#include "libsvc/runtime/lxc/launcher/enter.h"
#include "libsvc/runtime/lxc/launcher/guest.h"
#include "libsvc/runtime/lxc/launcher/messages.h"
#include "libsvc/runtime/lxc/launcher/verbs.h"

namespace svc::lxc {

namespace {

Plan plan_of(const std::string& folder) {
    return parse_plan(read_text(AT_FDCWD, folder + "/config"));
}

// init reaps it like any other orphan: the process between has ended.
pid_t leave_agent(const Plan& plan, const Descriptor& init) {
    const Restrictions restrictions(plan);
    std::pair<Descriptor, Descriptor> ends = make_socket_pair();
    const auto fork_agent = [&] {
        const pid_t agent = ::fork();
        if (agent == 0) be_agent(restrictions, ends.second.get());
        ::_exit(agent < 0 ? 1 : 0);
    };
    const pid_t entered = enter_container(
        plan, init, [] {}, fork_agent);
    ends.second.reset();
    while (::waitpid(entered, nullptr, 0) < 0 && errno == EINTR) continue;
    const int ours = ends.first.get();
    const pid_t agent = receive(ours).process;
    return receive(ours).kind == Received::Kind::end ? agent : 0;
}

// Of the container's devpts, so that it has a name inside. No link of the guest leads elsewhere.
int open_terminal(pid_t init) {
    const Descriptor root(::open(("/proc/" + std::to_string(init) + "/root").c_str(), O_PATH | O_CLOEXEC));
    open_how how{};
    how.flags = O_RDWR | O_NOCTTY | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const auto terminal =
        static_cast<int>(::syscall(SYS_openat2, root.get(), "dev/pts/ptmx", &how, sizeof how));
    struct statfs info {};
    if (terminal >= 0 && ::fstatfs(terminal, &info) == 0 && info.f_type == DEVPTS_SUPER_MAGIC)
        return terminal;
    if (terminal >= 0) ::close(terminal);
    return ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);  // of the host's
}

// The pid may have become another process's between reading the file and opening it.
Descriptor open_init(const std::string& folder, pid_t init) {
    Descriptor process(static_cast<int>(check(open_pidfd(init), "the container has ended")));
    if (running_init(folder) != init) throw LaunchFailure("the container has ended");
    return process;
}

int refuse(const std::exception& e) {
    return send_failure(e.what()), 1;
}

int not_running() {
    HelperMessage message;
    message.event = HelperEvent::not_running;
    std::snprintf(message.text, sizeof message.text, "not running");
    return send_message(message), 1;
}

// Returns the pid; `error` is that of execve().
pid_t begin_command(const Plan& plan, const Descriptor& init, Command& command, int* error) {
    const Restrictions restrictions(plan);
    int report[2];
    check(::pipe2(report, O_CLOEXEC), "cannot make a pipe");
    command.report = report[1];
    const pid_t entered = enter_container(
        plan, init, [&] { restrictions.apply(); }, [&] { run_command(&command); });
    use_null_stdio();  // so that the pipes and the terminal end with the command
    ::close(report[1]);
    *error = wait_for_exec(report[0]);
    return entered;
}

int follow_command(pid_t command, pid_t init, int error, int terminal) {
    HelperMessage message;
    message.command_pid = command;
    message.init_pid = init;
    message.value = error;
    message.event = error == 0 ? HelperEvent::running : HelperEvent::command_failed;
    const int descriptors[2] = {open_pidfd(command), terminal};
    if (!send_message(message, descriptors, terminal >= 0 ? 2 : 1)) ::kill(command, SIGKILL);
    if (terminal >= 0) ::close(terminal);
    wait_for_end(descriptors[0]);
    return report_end(command, init);
}

}  // namespace

int running_init(const std::string& folder) {
    return read_agent_file((folder + "/init").c_str());
}

int query_container(const std::string& folder) {
    HelperMessage message;
    message.event = HelperEvent::running;
    message.init_pid = running_init(folder);
    // Between two inits the container runs: whoever asks has to ask again.
    if (message.init_pid <= 0 && read_agent_file((folder + "/monitor").c_str()) > 0)
        return send_failure("its guest starts at the moment"), 1;
    if (message.init_pid <= 0) return not_running();
    message.monitor_pid = read_stat(message.init_pid).parent;
    return send_message(message) ? 0 : 1;
}

int start_agent(const std::string& folder) try {
    HelperMessage message;
    message.event = HelperEvent::running;
    message.init_pid = running_init(folder);
    if (message.init_pid <= 0) return not_running();
    message.monitor_pid = read_stat(message.init_pid).parent;
    const std::string file = folder + "/agent";
    message.agent_pid = read_agent_file(file.c_str());
    if (message.agent_pid == 0)
        message.agent_pid = leave_agent(plan_of(folder), open_init(folder, message.init_pid));
    failpoint("launch.entered");
    if (message.agent_pid == 0) return send_failure("agent was not started"), 1;
    write_process_file(file.c_str(), message.agent_pid);
    return send_message(message) ? 0 : 1;
} catch (const std::exception& e) {
    return refuse(e);
}

int execute_command(const std::string& folder, unsigned root_id, const char* terminal_size) try {
    Command command;
    command.terminal = terminal_size != nullptr;
    const pid_t init = running_init(folder);
    if (init <= 0) return send_failure("not running"), 1;
    if (!read_command(command)) return send_failure("no command"), 1;
    const int terminal = command.terminal ? open_terminal(init) : -1;
    if (command.terminal && (terminal < 0 || !use_terminal(terminal, root_id, terminal_size)))
        return send_failure("cannot make a terminal"), 1;
    int error = 0;
    const pid_t entered = begin_command(plan_of(folder), open_init(folder, init), command, &error);
    failpoint("launch.command_runs");
    return follow_command(entered, init, error, terminal);
} catch (const std::exception& e) {
    return refuse(e);
}

}  // namespace svc::lxc
