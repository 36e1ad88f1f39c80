#include "instance-agent/agent/processes/command_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "instance-agent/agent/processes/relayed_command.h"
#include "libsvc/base/error.h"
#include "libsvc/base/frames.h"

namespace svc::agent {
namespace {

constexpr const char* relay_usage =
    "usage: svc-agent relay [--terminal WIDTHxHEIGHT] -- COMMAND [ARGUMENT...]\n"
    "Runs a command for the service, which speaks frames on standard input and output.\n";
constexpr std::size_t relay_block = 64U << 10;
constexpr std::size_t most_waiting = 256U << 10;  // in each direction
constexpr int silence_ms = 100;  // a terminal that is kept open by others, and says nothing for so long
constexpr int not_found = 127, not_executable = 126;

// Bytes that wait until a descriptor takes them. Those for a reader that has gone are dropped.
class Waiting {
  public:
    explicit Waiting(int fd) : fd_(fd) {}
    void add(std::string_view data) {
        if (fd_ >= 0) data_ += data;
    }
    bool full() const { return data_.size() >= most_waiting; }
    bool empty() const { return data_.empty(); }
    pollfd interest() const { return {data_.empty() ? -1 : fd_, POLLOUT, 0}; }
    void write_some() {
        const ssize_t count = ::write(fd_, data_.data(), data_.size());
        if (count >= 0) data_.erase(0, static_cast<std::size_t>(count));
        if (count < 0 && errno != EAGAIN && errno != EINTR) drop();
    }
    void drop() {
        data_.clear();
        fd_ = -1;
    }

  private:
    int fd_;
    std::string data_;
};

// The command's output or errors on their way out.
struct Flow {
    int from = -1;  // -1: it has ended
    Waiting to;
    bool framed = false;
    std::optional<std::size_t> left;  // after the command's end: so much of it is the command's

    pollfd interest() const { return {to.full() ? -1 : from, POLLIN, 0}; }
    void read_some() {
        std::array<char, relay_block> block;
        const ssize_t count = ::read(from, block.data(), std::min(block.size(), left.value_or(relay_block)));
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count <= 0) return void(from = -1);  // a terminal that nobody has open gives EIO
        const std::string_view data(block.data(), static_cast<std::size_t>(count));
        to.add(framed ? frame_text(Frame::Kind::data, data) : data);
        if (left && (*left -= data.size()) == 0) from = -1;
    }
    // Children in the background may go on writing for ever.
    void end_with_what_is_there() {
        int size = 0;
        left = from >= 0 && ::ioctl(from, FIONREAD, &size) == 0 ? static_cast<std::size_t>(size) : 0;
        if (*left == 0) from = -1;
    }
};

class CommandRelay {
  public:
    CommandRelay(RelayedCommand& command, int signals)
        : command_(command),
          signals_(signals),
          input_(command.terminal ? command.output.get() : command.input.get()),
          output_{command.output.get(), Waiting(STDOUT_FILENO), true, std::nullopt},
          errors_{command.terminal ? -1 : command.errors.get(), Waiting(STDERR_FILENO), false, std::nullopt} {
    }

    // Until the command has ended and all of its output is on its way. The exit code.
    int run() {
        while (!status_ || output_.from >= 0 || errors_.from >= 0) step();
        const int code = WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
        output_.to.add(frame_text(Frame::Kind::ended, std::to_string(code)));
        while (!output_.to.empty() || !errors_.to.empty()) step();
        return code;
    }

  private:
    void step() {
        std::array<pollfd, 7> polled{
            {{stdin_open_ ? STDIN_FILENO : -1, static_cast<short>(input_.full() ? 0 : POLLIN), 0},
             {signals_, POLLIN, 0},
             input_.interest(),
             output_.interest(),
             errors_.interest(),
             output_.to.interest(),
             errors_.to.interest()}};
        const bool lingers = status_ && command_.terminal && output_.from >= 0;
        const int count = ::poll(polled.data(), polled.size(), lingers ? silence_ms : -1);
        if (count == 0) output_.from = -1;
        if (count <= 0) return;
        if (polled[2].revents != 0) input_.write_some();
        if (polled[5].revents != 0) output_.to.write_some();
        if (polled[6].revents != 0) errors_.to.write_some();
        if (polled[3].revents != 0) output_.read_some();
        if (polled[4].revents != 0) errors_.read_some();
        if (polled[0].revents != 0) take_input();
        if (polled[1].revents != 0) take_signal();
        if (input_ended_ && input_.empty()) command_.input.reset();
    }

    // Its end before the command's: whoever wanted the command has gone.
    void take_input() {
        std::array<char, relay_block> block;
        const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
        if (count < 0 && errno == EINTR) return;
        if (count <= 0) {
            stdin_open_ = false;
            if (!status_) ::kill(command_.pid, SIGKILL);
            output_.to.drop();
            return errors_.to.drop();
        }
        frames_.feed({block.data(), static_cast<std::size_t>(count)});
        while (const auto frame = frames_.next()) take(*frame);
    }

    void take(const Frame& frame) {
        if (frame.kind == Frame::Kind::window && command_.terminal)
            set_window(command_.output.get(), frame.data);
        if (frame.kind == Frame::Kind::data && !input_ended_) input_.add(frame.data);
        if (frame.kind == Frame::Kind::end_input && !command_.terminal) input_ended_ = true;
    }

    void take_signal() {
        signalfd_siginfo info{};
        if (::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return;
        const int number = static_cast<int>(info.ssi_signo);
        if (number == SIGCHLD) return reap();
        if (number != SIGPIPE && !status_) ::kill(command_.pid, number);
    }

    void reap() {
        int status = 0;
        if (status_ || ::waitpid(command_.pid, &status, WNOHANG) != command_.pid) return;
        status_ = status;
        input_.drop();
        if (command_.terminal) return;  // what it wrote comes a moment later
        output_.end_with_what_is_there();
        errors_.end_with_what_is_there();
    }

    RelayedCommand& command_;
    const int signals_;
    FrameReader frames_;
    Waiting input_;
    Flow output_, errors_;
    std::optional<int> status_;  // of the command, when it has ended
    bool stdin_open_ = true, input_ended_ = false;
};

// All signals come to a descriptor, so that none ends this process before the command.
FileDescriptor take_signals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    FileDescriptor signals(::signalfd(-1, &all, SFD_CLOEXEC));
    if (!signals) throw system_error("cannot take signals", errno);
    return signals;
}

int tell_exec_error(int error) {
    const int code = error == ENOENT || error == ENOTDIR ? not_found : not_executable;
    const std::string text = frame_text(Frame::Kind::not_started, std::to_string(code));
    write_all(STDOUT_FILENO, text);
    return code;
}

int relay(const std::vector<std::string>& words) {
    const bool terminal = words.size() > 2 && words[0] == "--terminal";
    const std::size_t at = terminal ? 2 : 0;
    if (words.size() < at + 2 || words[at] != "--")
        throw Error(ErrorCode::invalid_argument, "after --, a command is needed");
    const FileDescriptor signals = take_signals();
    RelayedCommand command = start_relayed({words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()},
                                           terminal ? words[1] : "");
    if (command.exec_error != 0) return tell_exec_error(command.exec_error);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
            throw system_error("cannot set up a pipe", errno);
    return CommandRelay(command, signals.get()).run();
}

}  // namespace

int run_command_relay(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"--help"}) return std::fputs(relay_usage, stdout), 0;
    return relay(words);
}

}  // namespace svc::agent
