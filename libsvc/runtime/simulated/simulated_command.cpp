#include "libsvc/runtime/simulated/simulated_command.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr int not_found_code = 127;
constexpr std::size_t block_bytes = std::size_t{64} << 10;

FileDescriptor make_event() {
    FileDescriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event) throw system_error("making an event descriptor", errno);
    return event;
}

void set(const FileDescriptor& event) {
    eventfd_write(event.get(), 1);
}

// The two ends of a stream; neither blocks.
std::pair<FileDescriptor, FileDescriptor> make_stream() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
        throw system_error("making a stream", errno);
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

FileDescriptor duplicate(const FileDescriptor& descriptor) {
    FileDescriptor copy(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) throw system_error("duplicating a descriptor", errno);
    return copy;
}

// The caller's end of a simulated command.
class SimulatedProcess final : public ExecProcess {
  public:
    SimulatedProcess(std::shared_ptr<SimulatedCommand> command, FileDescriptor input, FileDescriptor output,
                     FileDescriptor errors)
        : command_(std::move(command)),
          input_(std::move(input)),
          output_(std::move(output)),
          errors_(std::move(errors)) {}

    int input() const override { return input_ ? input_.get() : output_.get(); }
    int output() const override { return output_.get(); }
    int errors() const override { return errors_.get(); }
    void close_input() override {
        if (input_) shutdown(input_.get(), SHUT_WR);
    }
    int ended() const override { return command_->ended(); }
    int exit_code() override { return command_->exit_code(); }
    bool exec_failed() const override { return command_->unknown(); }
    void kill(int signal) override { command_->end(128 + signal); }
    void resize(unsigned, unsigned) override {}

  private:
    std::shared_ptr<SimulatedCommand> command_;
    FileDescriptor input_, output_, errors_;
};

}  // namespace

SimulatedCommand::SimulatedCommand(Clock& clock, ExecSpec spec, SimulatedStreamer streamer,
                                   FileDescriptor input, FileDescriptor output, FileDescriptor errors)
    : clock_(clock),
      spec_(std::move(spec)),
      streamer_(std::move(streamer)),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)),
      ended_(make_event()),
      interrupt_(make_event()),
      thread_([this] { run(); }) {}

SimulatedCommand::~SimulatedCommand() {
    constexpr int killed_code = 128 + 9;
    end(killed_code);
}

void SimulatedCommand::end(int exit_code) {
    int none = -1;
    if (!forced_code_.compare_exchange_strong(none, exit_code)) return;
    stop_.request_stop();
    set(interrupt_);
}

void SimulatedCommand::run() {
    pthread_setname_np(pthread_self(), "sim-command");
    const int own = answer();
    const int forced = forced_code_;
    exit_code_ = forced >= 0 ? forced : own;
    input_.reset();
    output_.reset();
    errors_.reset();
    set(ended_);
}

int SimulatedCommand::answer() {
    const std::string& name = spec_.command.at(0);
    if (name == "true") return 0;
    if (name == "false") return 1;
    if (name == "echo") return echo();
    if (name == "cat") return copy_input();
    if (name == "sleep") return sleep();
    if (name.ends_with("/svc-agent") && spec_.command.size() > 1 && spec_.command[1] == "take-over")
        return copy_input();
    if (name.ends_with("/svc-agent") && streamer_) return connect();
    unknown_ = true;
    return not_found_code;
}

int SimulatedCommand::echo() {
    const std::vector<std::string> words(spec_.command.begin() + 1, spec_.command.end());
    return write(join(words, " ") + "\n") ? 0 : 1;
}

int SimulatedCommand::copy_input() {
    std::array<char, block_bytes> block{};
    while (wait_for(input_.get(), POLLIN)) {
        const ssize_t count = read(input_.get(), block.data(), block.size());
        if (count == 0) return 0;
        if (count < 0 && errno != EAGAIN && errno != EINTR) return 1;
        if (count > 0 && !write({block.data(), static_cast<std::size_t>(count)})) return 1;
    }
    return 1;
}

int SimulatedCommand::sleep() {
    if (spec_.command.size() < 2) return 1;
    const std::string& text = spec_.command[1];
    const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
    try {
        clock_.wait(stop_.get_token(), parse_duration(bare ? text + "s" : text));
    } catch (const Error&) {
        return 1;
    }
    return 0;
}

int SimulatedCommand::connect() {
    streamer_(read_line(), [this](std::string_view bytes) { return write(bytes); });
    return 0;
}

// "" where the command was ended.
std::string SimulatedCommand::read_line() {
    std::string line;
    for (char c = 0; wait_for(input_.get(), POLLIN);) {
        const ssize_t count = read(input_.get(), &c, 1);
        if (count == 0 || (count > 0 && c == '\n')) return line;
        if (count > 0) line += c;
    }
    return "";
}

bool SimulatedCommand::write(std::string_view data) {
    while (!data.empty()) {
        const ssize_t count = send(output_.get(), data.data(), data.size(), MSG_NOSIGNAL);
        if (count > 0) data.remove_prefix(static_cast<std::size_t>(count));
        if (count < 0 && errno == EAGAIN && !wait_for(output_.get(), POLLOUT)) return false;
        if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    }
    return true;
}

bool SimulatedCommand::wait_for(int fd, short events) {
    std::array<pollfd, 2> waited{{{fd, events, 0}, {interrupt_.get(), POLLIN, 0}}};
    while (poll(waited.data(), waited.size(), -1) < 0 && errno == EINTR) {
    }
    return (waited[1].revents & POLLIN) == 0;
}

std::unique_ptr<ExecProcess> start_simulated_command(Clock& clock, const ExecSpec& spec,
                                                     const SimulatedStreamer& streamer,
                                                     std::weak_ptr<SimulatedCommand>& started) {
    if (spec.command.empty()) throw Error(ErrorCode::invalid_argument, "command is required");
    auto [near, far] = make_stream();
    FileDescriptor near_input, near_errors, far_input, far_errors;
    if (spec.terminal) {
        far_input = duplicate(far);
    } else {
        std::tie(near_input, far_input) = make_stream();
        std::tie(near_errors, far_errors) = make_stream();
    }
    auto command = std::make_shared<SimulatedCommand>(clock, spec, streamer, std::move(far_input),
                                                      std::move(far), std::move(far_errors));
    started = command;
    return std::make_unique<SimulatedProcess>(std::move(command), std::move(near_input), std::move(near),
                                              std::move(near_errors));
}

}  // namespace svc
