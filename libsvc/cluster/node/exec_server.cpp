#include "libsvc/cluster/node/exec_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/cluster/node/exec_frames.h"

namespace svc::node {

namespace {

// A pipe whose reader has gone is no reason to end the daemon.
void block_broken_pipe_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

// What the leader has sent and the command's thread has not yet done.
struct ExecInbox {
    std::string input;
    bool input_ended = false;
    std::vector<int> signals;
    std::optional<std::pair<unsigned, unsigned>> size;
    std::size_t taken = 0;  // bytes of output
    bool closed = false;
};

class ExecSession final : public WebSocketHandler, public std::enable_shared_from_this<ExecSession> {
  public:
    ExecSession(const ExecServerParts& parts, std::uint64_t term, std::string container)
        : parts_(parts),
          term_(term),
          container_(std::move(container)),
          wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!wake_) throw system_error("cannot follow a command", errno);
    }

    void on_open(std::shared_ptr<WebSocket> socket) override {
        std::lock_guard lock(mutex_);
        socket_ = std::move(socket);
    }
    void on_message(bool binary, std::string message) override;
    void on_close(std::uint16_t, std::string_view) override;

  private:
    void abandon();
    void start(ExecSpec spec);
    void run(const ExecSpec& spec);
    void carry(ExecProcess& process);
    void tell(const Json& message);
    void send(ExecStreamId stream, std::string_view data);
    void close();
    ExecInbox take_orders();
    void wake() const { ::eventfd_write(wake_.get(), 1); }

    const ExecServerParts parts_;
    const std::uint64_t term_;
    const std::string container_;
    const FileDescriptor wake_;
    bool started_ = false;  // I/O thread only
    std::mutex mutex_;      // of all below
    std::shared_ptr<WebSocket> socket_;
    ExecInbox inbox_;
};

// The command's thread: moves bytes until the command has ended and its output is sent.
class ExecCarrier {
  public:
    using Send = std::function<void(ExecStreamId, std::string_view)>;
    using Tell = std::function<void(const Json&)>;
    ExecCarrier(ExecProcess& process, int wake, Send send, Tell tell)
        : process_(process), wake_(wake), send_(std::move(send)), tell_(std::move(tell)) {
        open_ = {process.output(), process.errors()};
    }

    // False: the leader has gone.
    bool run(const std::function<ExecInbox()>& orders) {
        for (;;) {
            ExecInbox inbox = orders();
            if (inbox.closed) return false;
            obey(std::move(inbox));
            write_input();
            const bool quiet = !read_outputs();
            const bool held = on_way_ >= exec_window;  // what is left is read when the leader has taken some
            if (ended_ && quiet && !held) return true;
            if (quiet) wait();
        }
    }

  private:
    void obey(ExecInbox inbox) {
        for (const int signal : inbox.signals) process_.kill(signal);
        if (inbox.size) process_.resize(inbox.size->first, inbox.size->second);
        on_way_ -= std::min(on_way_, inbox.taken);
        if (input_open_) input_ += inbox.input;
        end_input_ = end_input_ || inbox.input_ended;
    }

    void write_input() {
        const std::size_t before = input_.size();
        while (input_open_ && !input_.empty()) {
            const ssize_t count = ::write(process_.input(), input_.data(), input_.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno == EAGAIN) break;
            if (count < 0) drop_input();
            if (count > 0) input_.erase(0, static_cast<std::size_t>(count));
        }
        if (before > input_.size()) tell_(Json::object({{"taken", before - input_.size()}}));
        if (input_open_ && input_.empty() && end_input_) {
            process_.close_input();
            input_open_ = false;
        }
    }

    void drop_input() {  // the command reads no more
        input_.clear();
        input_open_ = false;
    }

    // True when there was something to read.
    bool read_outputs() {
        bool any = false;
        for (std::size_t i = 0; i < open_.size(); ++i) any = read_output(i) || any;
        return any;
    }

    bool read_output(std::size_t i) {
        if (open_[i] < 0 || on_way_ >= exec_window) return false;
        std::string block(exec_block, '\0');
        const ssize_t count = ::read(open_[i], block.data(), block.size());
        if (count < 0 && errno == EINTR) return true;
        if (count < 0 && errno == EAGAIN) return false;
        const auto stream = i == 0 ? ExecStreamId::output : ExecStreamId::errors;
        if (count <= 0) {  // EIO: a terminal whose last program has ended
            open_[i] = -1;
            send_(stream, "");
            return true;
        }
        on_way_ += static_cast<std::size_t>(count);
        send_(stream, std::string_view(block).substr(0, static_cast<std::size_t>(count)));
        return true;
    }

    void wait() {
        const bool may_read = on_way_ < exec_window;
        const bool writes = input_open_ && !input_.empty();
        std::array<pollfd, 5> all{{{wake_, POLLIN, 0},
                                   {ended_ ? -1 : process_.ended(), POLLIN, 0},
                                   {may_read ? open_[0] : -1, POLLIN, 0},
                                   {may_read ? open_[1] : -1, POLLIN, 0},
                                   {writes ? process_.input() : -1, POLLOUT, 0}}};
        while (::poll(all.data(), all.size(), -1) < 0 && errno == EINTR) continue;
        if (all[1].revents != 0) ended_ = true;  // what it has written by now is still read
        eventfd_t count = 0;
        if (all[0].revents != 0) ::eventfd_read(wake_, &count);
    }

    ExecProcess& process_;
    const int wake_;
    const Send send_;
    const Tell tell_;
    std::array<int, 2> open_{};  // -1: at its end
    std::string input_;
    bool input_open_ = true, end_input_ = false, ended_ = false;
    std::size_t on_way_ = 0;
};

void ExecSession::on_message(bool binary, std::string message) {
    if (!started_ && !binary) {
        started_ = true;
        return start(exec_from_json(Json::parse(message)));
    }
    std::lock_guard lock(mutex_);
    if (binary) {
        if (message.size() > 1) inbox_.input.append(message, 1);
        inbox_.input_ended = inbox_.input_ended || message.size() <= 1;
        return wake();
    }
    const Json json = Json::parse(message);
    const JsonFields order(json);
    if (const auto signal = order.integer("signal")) inbox_.signals.push_back(static_cast<int>(*signal));
    if (const auto width = order.integer("width"))
        inbox_.size = {static_cast<unsigned>(*width), static_cast<unsigned>(order.require_int("height"))};
    inbox_.taken += static_cast<std::size_t>(order.integer("taken").value_or(0));
    wake();
}

void ExecSession::on_close(std::uint16_t, std::string_view) {
    abandon();
    std::lock_guard lock(mutex_);
    socket_.reset();
}

void ExecSession::abandon() {
    std::lock_guard lock(mutex_);
    inbox_.closed = true;
    wake();
}

void ExecSession::start(ExecSpec spec) {
    const bool posted =
        parts_.pool.post([self = shared_from_this(), spec = std::move(spec)] { self->run(spec); });
    if (posted) return;
    tell(to_json(Error(ErrorCode::exhausted, "node runs too many commands")));
    close();
}

void ExecSession::run(const ExecSpec& spec) {
    block_broken_pipe_signal();
    const std::stop_callback ended(parts_.stop, [this] { abandon(); });
    try {
        std::unique_ptr<ExecProcess> process;
        {
            const auto entered = parts_.guard.enter(term_);
            process = parts_.runtime.exec(container_, spec);
        }
        tell(Json::object({{"started", true}}));
        carry(*process);
    } catch (const Error& e) {
        tell(to_json(e));
    }
    close();
}

void ExecSession::carry(ExecProcess& process) {
    ExecCarrier carrier(
        process, wake_.get(), [this](ExecStreamId stream, std::string_view data) { send(stream, data); },
        [this](const Json& message) { tell(message); });
    if (!carrier.run([this] { return take_orders(); })) return;
    tell(Json::object({{"exit_code", process.exit_code()}, {"exec_failed", process.exec_failed()}}));
}

ExecInbox ExecSession::take_orders() {
    std::lock_guard lock(mutex_);
    ExecInbox taken = std::exchange(inbox_, ExecInbox());
    inbox_.closed = taken.closed;
    return taken;
}

void ExecSession::tell(const Json& message) {
    std::lock_guard lock(mutex_);
    if (socket_) socket_->send_text(message.dump());
}

void ExecSession::send(ExecStreamId stream, std::string_view data) {
    std::lock_guard lock(mutex_);
    if (socket_) socket_->send_binary(exec_frame(stream, data));
}

void ExecSession::close() {
    std::lock_guard lock(mutex_);
    if (socket_) socket_->close(CloseCode::normal, "");
}

}  // namespace

std::shared_ptr<WebSocketHandler> serve_exec(const ExecServerParts& parts, std::uint64_t term,
                                             std::string container) {
    return std::make_shared<ExecSession>(parts, term, std::move(container));
}

}  // namespace svc::node
