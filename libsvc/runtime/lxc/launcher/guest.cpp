#include "libsvc/runtime/lxc/launcher/guest.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/guest_network.h"
#include "libsvc/runtime/lxc/launcher/messages.h"

namespace svc::lxc {

namespace {

void wait_for(int socket, GuestStep wanted) {
    char step = 0;
    ssize_t got = 0;
    while ((got = ::recv(socket, &step, 1, 0)) < 0 && errno == EINTR) continue;
    if (got != 1 || step != static_cast<char>(wanted)) ::_exit(1);  // the monitor has ended
}

void use_console(const Terminal& console) {
    for (int fd = 0; fd <= 2; ++fd) check(::dup2(console.slave.get(), fd), "cannot use the console");
}

void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

void leave_agent(const GuestStart& start, int socket) {
    const pid_t child = ::fork();
    check(child, "cannot start the agent");
    if (child == 0) be_agent(start.restrictions, socket);
}

void set_up(const GuestStart& start, int socket) {
    ::setsid();
    reset_signals();
    wait_for(socket, GuestStep::ids);
    become_root();
    check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "cannot end with the monitor");  // a change of user clears it
    check(::sethostname(start.plan.host_name.c_str(), start.plan.host_name.size()),
          "cannot set the host name");
    const std::vector<Terminal> terminals = enter_root(start.plan);
    send_terminals(socket, terminals);
    wait_for(socket, GuestStep::network);
    start.plan.network ? set_up_guest_device(*start.plan.network) : set_up_loopback();
    wait_for(socket, GuestStep::groups);
    check(::unshare(CLONE_NEWCGROUP), "cannot make a namespace of control groups");
    if (start.plan.has_only_version_2()) mount_groups();
    if (start.agent) leave_agent(start, socket);
    use_console(terminals.front());
}

[[noreturn]] void execute(const GuestStart& start) {
    const std::vector<std::string>& command = start.command.empty() ? start.plan.init : start.command;
    std::vector<std::string> environment = {"container=lxc"};
    environment.insert(environment.end(), start.plan.environment.begin(), start.plan.environment.end());
    const std::vector<char*> arguments = pointers(command);
    const std::vector<char*> variables = pointers(environment);
    start.restrictions.apply();
    ::execve(arguments[0], arguments.data(), variables.data());
    fail("cannot execute '" + command.front() + "'");
}

}  // namespace

void become_root() {
    check(::setgroups(0, nullptr), "cannot leave the groups of the host");
    check(::setresgid(0, 0, 0), "cannot become root of the container");
    check(::setresuid(0, 0, 0), "cannot become root of the container");
    if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0 && errno != ENOSYS)
        fail("cannot leave the session keyring of the host");  // ENOSYS: the kernel has no keys
}

void be_guest(const GuestStart& start, int socket) {
    try {
        set_up(start, socket);
        execute(start);
    } catch (const std::exception& e) {
        send_text(socket, e.what());
    }
    ::_exit(1);
}

// The agent's output goes to the console, whose log has a limited size.
void be_agent(const Restrictions& restrictions, int socket) {
    ::setsid();
    const int console = ::open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(null, 0);
    for (int fd = 1; fd <= 2; ++fd) ::dup2(console >= 0 ? console : null, fd);
    if (::chdir("/") != 0 || !send_credentials(socket)) ::_exit(126);
    char* const arguments[] = {const_cast<char*>(agent_program), nullptr};
    const char* const environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                       "HOME=/root", "USER=root", "LANG=C.UTF-8", nullptr};
    try {
        restrictions.apply();
        ::execve(agent_program, arguments, const_cast<char**>(environment));
    } catch (const std::exception& e) {
        send_text(socket, e.what());
        ::_exit(126);
    }
    send_credentials(socket);  // a second time: it was not executed
    ::_exit(127);
}

}  // namespace svc::lxc
