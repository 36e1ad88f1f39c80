#include "libsvc/runtime/lxc/helper/control.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace svc::lxc {

bool send_message(const HelperMessage& message, const int* descriptors, unsigned count) {
    HelperMessage copy = message;
    iovec part{&copy, sizeof copy};
    alignas(cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (count > 0) {
        header.msg_control = space;
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        std::memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
    }
    return ::sendmsg(control_fd, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof copy);
}

bool send_failure(const char* text) {
    HelperMessage message;
    message.event = HelperEvent::failed;
    std::snprintf(message.text, sizeof message.text, "%s", text);
    return send_message(message);
}

void use_null_stdio() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
    if (null > 2) ::close(null);
}

int open_pidfd(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
}

bool is_readable(int fd, int timeout_ms) {
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, timeout_ms) > 0;
}

bool is_ending(pid_t pid) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true;
    char text[512];
    const ssize_t got = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    if (got <= 0) return true;
    text[got] = '\0';
    // "pid (name) state ppid pgrp session tty tpgid flags": the kernel's PF_EXITING is 4.
    const char* rest = std::strrchr(text, ')');
    char state = 'X';
    unsigned flags = 0;
    if (rest == nullptr || std::sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
        return true;
    return state == 'Z' || state == 'X' || (flags & 4U) != 0;
}

}  // namespace svc::lxc
