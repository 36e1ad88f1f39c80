// svc-lxc exec: runs one command inside a container, passes its pidfd (and terminal) to the daemon, and
// reports its exit status.
#include <fcntl.h>
#include <lxc/attach_options.h>
#include <lxc/lxccontainer.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/command.h"
#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

namespace {

// Opens a terminal of the container's devpts, so that it has a name inside; else one of the host's devpts.
int open_terminal(lxc_container* container) {
    const int devpts = container->devpts_fd(container);
    if (devpts < 0) return ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    const int terminal = ::openat(devpts, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    ::close(devpts);
    return terminal;
}

// Returns the pid of the command; 0 after it has reported the failure.
pid_t enter(lxc_container* container, Command& command, int* exec_error) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) return send_failure("cannot make a pipe"), 0;
    command.report = report[1];
    lxc_attach_options_t options = LXC_ATTACH_OPTIONS_DEFAULT;
    pid_t pid = 0;
    if (container->attach(container, run_command, &command, &options, &pid) != 0)
        return send_failure("cannot enter the container"), 0;
    use_null_stdio();  // so that the pipes and the terminal end with the command
    ::close(report[1]);
    *exec_error = wait_for_exec(report[0]);
    return pid;
}

}  // namespace

int exec_command(lxc_container* container, unsigned root_id, const char* terminal_size) {
    Command command;
    command.terminal = terminal_size != nullptr;
    const pid_t init = container->init_pid(container);
    if (init <= 0) return send_failure("not running"), 1;
    if (!read_command(command)) return send_failure("no command"), 1;
    const int terminal = command.terminal ? open_terminal(container) : -1;
    if (command.terminal && (terminal < 0 || !use_terminal(terminal, root_id, terminal_size)))
        return send_failure("cannot make a terminal"), 1;
    HelperMessage message;
    message.command_pid = enter(container, command, &message.value);
    if (message.command_pid <= 0) return 1;
    failpoint("helper.command_runs");
    const int descriptors[2] = {open_pidfd(message.command_pid), terminal};
    message.event = message.value == 0 ? HelperEvent::running : HelperEvent::command_failed;
    message.init_pid = init;
    if (!send_message(message, descriptors, command.terminal ? 2 : 1)) ::kill(message.command_pid, SIGKILL);
    if (terminal >= 0) ::close(terminal);
    wait_for_end(descriptors[0]);
    return report_end(message.command_pid, init);
}

}  // namespace svc::lxc
