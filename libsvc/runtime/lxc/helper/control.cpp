#include "libsvc/runtime/lxc/helper/control.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libsvc/base/failpoint.h"

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

ProcessStat read_stat(pid_t pid) {
    ProcessStat stat;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ESRCH) stat.state = '?';
    if (fd < 0) return stat;
    char text[1024];
    const ssize_t got = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    if (got <= 0) return stat;
    text[got] = '\0';
    // "pid (name) state ppid pgrp session tty tpgid flags ... starttime": the name may hold anything.
    const char* rest = std::strrchr(text, ')');
    if (rest == nullptr ||
        std::sscanf(rest + 1,
                    " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                    &stat.state, &stat.parent, &stat.flags, &stat.start_ticks) != 4)
        stat.state = 'X';
    return stat;
}

bool is_ending(pid_t pid) {
    constexpr unsigned exiting = 4;  // the kernel's PF_EXITING
    const ProcessStat stat = read_stat(pid);
    return stat.state == 'Z' || stat.state == 'X' || (stat.flags & exiting) != 0;
}

int lock_container(const char* path, const char* name) {
    char file[4096];
    std::snprintf(file, sizeof file, "%s/%s/lock", path, name);
    const int fd = ::open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) ::flock(fd, LOCK_EX);
    return fd;
}

pid_t read_agent_file(const char* file) {
    pid_t pid = 0;
    unsigned long long ticks = 0;
    FILE* in = std::fopen(file, "re");
    if (in == nullptr) return 0;
    const bool whole = std::fscanf(in, "%d %llu", &pid, &ticks) == 2;
    std::fclose(in);
    return whole && pid > 0 && !is_ending(pid) && read_stat(pid).start_ticks == ticks ? pid : 0;
}

bool replace_file(const char* file, const char* text) {
    char temporary[4096];
    const int size = std::snprintf(temporary, sizeof temporary, "%s.new", file);
    if (size < 0 || static_cast<std::size_t>(size) >= sizeof temporary) return false;
    const int fd = ::open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    const auto length = static_cast<ssize_t>(std::strlen(text));
    const bool written = ::write(fd, text, static_cast<std::size_t>(length)) == length;
    ::close(fd);
    failpoint("helper.file_written");
    return written && ::rename(temporary, file) == 0;
}

bool write_process_file(const char* file, pid_t pid) {
    char line[64];
    std::snprintf(line, sizeof line, "%d %llu\n", pid, read_stat(pid).start_ticks);
    return replace_file(file, line);
}

}  // namespace svc::lxc
