#include "libsvc/runtime/lxc/helper/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

namespace {

// An argument vector of at most `limit` zero-terminated strings, which stay where they are in memory.
char** take_strings(char*& text, const char* end, std::size_t limit) {
    std::size_t count = 0;
    for (const char* at = text; at < end && count < limit; at += std::strlen(at) + 1) ++count;
    auto** strings = static_cast<char**>(std::calloc(count + 1, sizeof(char*)));
    if (strings == nullptr) std::abort();
    for (std::size_t i = 0; i < count; ++i, text += std::strlen(text) + 1) strings[i] = text;
    return strings;
}

}  // namespace

bool read_command(Command& command) {
    struct stat info {};
    if (::fstat(command_fd, &info) != 0 || info.st_size < 2) return false;
    const auto size = static_cast<std::size_t>(info.st_size);
    void* memory = ::mmap(nullptr, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, command_fd, 0);
    if (memory == MAP_FAILED) return false;
    char* text = static_cast<char*>(memory);
    const char* end = text + size;
    if (end[-1] != '\0') return false;
    const std::size_t count = std::strtoul(text, nullptr, 10);
    text += std::strlen(text) + 1;
    command.arguments = take_strings(text, end, count);
    command.environment = take_strings(text, end, static_cast<std::size_t>(-1));
    return command.arguments[0] != nullptr;
}

int run_command(void* payload) {
    const Command& command = *static_cast<Command*>(payload);
    ::setsid();
    if (command.terminal) ::ioctl(0, TIOCSCTTY, 0);
    if (::chdir("/root") != 0 && ::chdir("/") != 0) ::_exit(126);
    environ = command.environment;
    ::execvp(command.arguments[0], command.arguments);
    const int error = errno;
    if (::write(command.report, &error, sizeof error) != static_cast<ssize_t>(sizeof error)) ::_exit(126);
    ::_exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

bool use_terminal(int terminal, unsigned root_id, const char* size) {
    int unlock = 0;
    if (::ioctl(terminal, TIOCSPTLCK, &unlock) != 0) return false;
    const int inner = ::ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (inner < 0) return false;
    unsigned short width = 80;
    unsigned short height = 24;
    std::sscanf(size, "%hux%hu", &width, &height);
    const winsize window{height, width, 0, 0};
    ::ioctl(terminal, TIOCSWINSZ, &window);
    const int owned = ::fchown(inner, root_id, root_id + 5);  // 5: group tty in every distribution
    for (int fd = 0; fd <= 2; ++fd) ::dup2(inner, fd);
    ::close(inner);
    return owned == 0;
}

int wait_for_exec(int report) {
    int error = 0;
    while (::read(report, &error, sizeof error) < 0 && errno == EINTR) continue;
    ::close(report);
    return error;
}

void wait_for_end(int command) {
    pollfd entries[2] = {{command, POLLIN, 0}, {control_fd, POLLIN, 0}};
    for (;;) {
        if (::poll(entries, 2, -1) < 0) continue;
        if (entries[0].revents != 0) return;
        ::syscall(SYS_pidfd_send_signal, command, SIGKILL, nullptr, 0U);
        entries[1].fd = -1;
    }
}

int report_end(pid_t pid, pid_t init) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    HelperMessage message;
    message.event = HelperEvent::ended;
    message.value = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    message.gone = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && is_ending(init) ? 1 : 0;
    return send_message(message) ? 0 : 1;
}

}  // namespace svc::lxc
