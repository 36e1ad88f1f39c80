#include "libsvc/services/exec/exec_pump.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace svc {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;
constexpr std::size_t max_queued_bytes = std::size_t{1}
                                         << 20;  // of a channel; above it output waits in the pipe

}  // namespace

ExecPump::ExecPump(ExecSession& session, ExecProcess& process)
    : session_(session), process_(process), block_(block_bytes) {
    if (session.terminal()) {
        outputs_.push_back({process.output(), session.channel("0"), false});
    } else {
        outputs_.push_back({process.output(), session.channel("1"), false});
        outputs_.push_back({process.errors(), session.channel("2"), false});
    }
}

int ExecPump::run() {
    while (!ended_ || has_output()) {
        follow_orders();
        std::array<pollfd, slots> polled{};
        prepare(polled);
        const int ready = poll(polled.data(), polled.size(), may_block() ? -1 : 0);
        if (ready < 0 && errno != EINTR) throw system_error("waiting for a command", errno);
        if (ready < 0) continue;
        if (polled[wake].revents != 0) read_wake();
        if (polled[input].revents != 0) write_input();
        const bool had_ended = ended_;
        ended_ = ended_ || polled[ended].revents != 0;
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            Output& output = outputs_[i];
            if (polled[first_output + i].revents != 0)
                read_output(output);
            else if (had_ended && !output.throttled)
                output.fd = -1;  // what its children still write is not waited for
        }
    }
    return process_.exit_code();
}

void ExecPump::follow_orders() {
    ExecOrders orders = session_.take_orders(input_open_ && input_.empty());
    for (const int signal : orders.signals) process_.kill(signal);
    if (orders.size) process_.resize(orders.size->first, orders.size->second);
    if (!orders.input.empty()) {
        input_ = std::move(orders.input);
        written_ = 0;
    }
    end_input_ = end_input_ || orders.end_input;
    if (input_open_ && end_input_ && input_.empty()) {
        input_open_ = false;
        if (!session_.terminal()) process_.close_input();
    }
}

// Descriptors that nothing is wanted of are -1, so that their hang-up does not wake anybody.
void ExecPump::prepare(std::array<pollfd, slots>& polled) {
    polled[wake] = {session_.wake_descriptor(), POLLIN, 0};
    polled[ended] = {ended_ ? -1 : process_.ended(), POLLIN, 0};
    polled[input] = {input_.empty() || ended_ ? -1 : process_.input(), POLLOUT, 0};
    for (std::size_t i = 0; i < slots - first_output; ++i) polled[first_output + i] = {-1, POLLIN, 0};
    session_.await_room(true);
    bool throttled = false;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        Output& output = outputs_[i];
        output.throttled =
            output.fd >= 0 && output.channel && output.channel->queued_bytes() >= max_queued_bytes;
        polled[first_output + i].fd = output.throttled ? -1 : output.fd;
        throttled = throttled || output.throttled;
    }
    session_.await_room(throttled);
}

// Once the command has ended, everything it wrote is there already: an open output is either ready or done.
bool ExecPump::may_block() const {
    return !ended_ || std::ranges::none_of(
                          outputs_, [](const Output& output) { return output.fd >= 0 && !output.throttled; });
}

bool ExecPump::has_output() const {
    return std::ranges::any_of(outputs_, [](const Output& output) { return output.fd >= 0; });
}

void ExecPump::read_wake() const {
    std::uint64_t count = 0;
    while (read(session_.wake_descriptor(), &count, sizeof count) < 0 && errno == EINTR) {
    }
}

void ExecPump::write_input() {
    const ssize_t count = write(process_.input(), input_.data() + written_, input_.size() - written_);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) {  // the command does not read any more
        input_.clear();
        input_open_ = false;
        return;
    }
    written_ += static_cast<std::size_t>(count);
    if (written_ == input_.size()) input_.clear();
}

void ExecPump::read_output(Output& output) {
    const ssize_t count = read(output.fd, block_.data(), block_.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // A terminal without a user fails with EIO: its end.
    if (count <= 0) {
        output.fd = -1;
        return;
    }
    const std::string_view bytes(block_.data(), static_cast<std::size_t>(count));
    if (!output.channel || output.channel->send(std::string(bytes))) return;
    output.channel = nullptr;
    // Its client is gone, and no end of the paused input tells of that.
    if (session_.terminal()) process_.kill(SIGKILL);
}

}  // namespace svc
