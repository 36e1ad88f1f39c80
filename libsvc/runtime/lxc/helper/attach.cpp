// svc-lxc agent: starts svc-agent in a container as a child of the container's init, which reaps it like any
// other orphan.
#include <fcntl.h>
#include <lxc/attach_options.h>
#include <lxc/lxccontainer.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

namespace {

constexpr const char* agent_program = "/var/lib/svc-agent/bin/svc-agent";

// The agent's output goes to the container's console; liblxc limits the size of that log.
void use_console() {
    int console = ::open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (console < 0) console = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(null, 0);
    ::dup2(console, 1);
    ::dup2(console, 2);
}

[[noreturn]] void be_agent(int report) {
    ::setsid();
    use_console();
    if (::chdir("/") != 0) ::_exit(126);
    const char ready = 0;
    if (::write(report, &ready, 1) != 1) ::_exit(126);  // the credentials that the socket passes have the pid
    char* const arguments[] = {const_cast<char*>(agent_program), nullptr};
    const char* const environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                       "HOME=/root", "USER=root", "LANG=C.UTF-8", nullptr};
    ::execve(agent_program, arguments, const_cast<char**>(environment));
    const char failed = 1;
    if (::write(report, &failed, 1) != 1) ::_exit(126);
    ::_exit(127);
}

// Runs inside the container, as its root.
int leave_agent(void* payload) {
    const int report = *static_cast<int*>(payload);
    const pid_t child = ::fork();
    if (child == 0) be_agent(report);
    ::_exit(child < 0 ? 1 : 0);
}

pid_t receive_pid(int socket) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(ucred))];
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = sizeof space;
    if (::recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != 1) return 0;
    const cmsghdr* first = CMSG_FIRSTHDR(&header);
    if (first == nullptr || first->cmsg_type != SCM_CREDENTIALS) return 0;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(first), sizeof sender);
    if (::recv(socket, &byte, 1, 0) == 1)
        return 0;  // a second byte: execve() failed; the socket is closed when it succeeds
    return sender.pid;
}

}  // namespace

pid_t attach_agent(lxc_container* container) {
    char file[4096];
    std::snprintf(file, sizeof file, "%s/%s/agent", container->config_path, container->name);
    if (const pid_t running = read_agent_file(file); running != 0) return running;
    int pair[2];
    const int on = 1;
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return 0;
    ::setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    const timeval limit{5, 0};
    ::setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    lxc_attach_options_t options = LXC_ATTACH_OPTIONS_DEFAULT;
    pid_t entered = 0;
    const int result = container->attach(container, leave_agent, &pair[1], &options, &entered);
    ::close(pair[1]);
    failpoint("helper.entered");
    const pid_t agent = result == 0 ? receive_pid(pair[0]) : 0;
    ::close(pair[0]);
    if (result == 0) ::waitpid(entered, nullptr, 0);
    if (agent > 0) write_process_file(file, agent);
    return agent;
}

}  // namespace svc::lxc
