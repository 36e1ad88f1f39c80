#include "instance-agent/agent/processes/relayed_command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

struct RelayPipe {
    FileDescriptor reading, writing;
};

RelayPipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void do_not_block(const FileDescriptor& file) {
    if (::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK) < 0)
        throw system_error("cannot set up a pipe", errno);
}

// What becomes standard input, output and error of the child.
struct ChildEnds {
    FileDescriptor input, output, errors;
};

ChildEnds open_pipes(RelayedCommand& command) {
    RelayPipe input = make_pipe(), output = make_pipe(), errors = make_pipe();
    command.input = std::move(input.writing);
    command.output = std::move(output.reading);
    command.errors = std::move(errors.reading);
    for (const FileDescriptor* end : {&command.input, &command.output, &command.errors}) do_not_block(*end);
    return {std::move(input.reading), std::move(output.writing), std::move(errors.writing)};
}

ChildEnds open_relay_terminal(RelayedCommand& command, const std::string& size) {
    command.terminal = true;
    command.output = FileDescriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    int unlock = 0;
    if (!command.output || ::ioctl(command.output.get(), TIOCSPTLCK, &unlock) != 0)
        throw system_error("cannot make a terminal", errno);
    FileDescriptor inner(::ioctl(command.output.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!inner) throw system_error("cannot open a terminal", errno);
    set_window(command.output.get(), size);
    do_not_block(command.output);
    ChildEnds ends;
    ends.output = FileDescriptor(::fcntl(inner.get(), F_DUPFD_CLOEXEC, 3));
    ends.errors = FileDescriptor(::fcntl(inner.get(), F_DUPFD_CLOEXEC, 3));
    ends.input = std::move(inner);
    return ends;
}

[[noreturn]] void become(const std::vector<std::string>& command, const ChildEnds& ends, bool terminal,
                         int report, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::setsid();
    if (terminal) ::ioctl(ends.input.get(), TIOCSCTTY, 0);
    const std::array<int, 3> standard{ends.input.get(), ends.output.get(), ends.errors.get()};
    for (int fd = 0; fd <= 2; ++fd) ::dup2(standard[static_cast<std::size_t>(fd)], fd);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::chdir("/root") != 0 && ::chdir("/") != 0) ::_exit(1);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    const int error = errno;
    const ssize_t told = ::write(report, &error, sizeof error);
    ::_exit(told == static_cast<ssize_t>(sizeof error) ? 127 : 126);
}

int exec_error(int report) {
    int error = 0;
    while (::read(report, &error, sizeof error) < 0 && errno == EINTR) continue;
    return error;
}

}  // namespace

RelayedCommand start_relayed(const std::vector<std::string>& words, const std::string& size) {
    RelayedCommand command;
    RelayPipe report = make_pipe();
    {
        const ChildEnds ends = size.empty() ? open_pipes(command) : open_relay_terminal(command, size);
        const pid_t parent = ::getpid();
        command.pid = ::fork();
        if (command.pid < 0) throw system_error("cannot start a process", errno);
        if (command.pid == 0) become(words, ends, command.terminal, report.writing.get(), parent);
    }
    report.writing.reset();
    command.exec_error = exec_error(report.reading.get());
    return command;
}

void set_window(int terminal, const std::string& size) {
    unsigned short width = 0, height = 0;
    if (std::sscanf(size.c_str(), "%hux%hu", &width, &height) != 2) return;
    const winsize window{height, width, 0, 0};
    ::ioctl(terminal, TIOCSWINSZ, &window);
}

}  // namespace svc::agent
