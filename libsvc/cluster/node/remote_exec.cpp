#include "libsvc/cluster/node/remote_exec.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/cluster/node/exec_frames.h"
#include "libsvc/cluster/node_api.h"
#include "libsvc/net/websocket/websocket_client.h"

namespace svc::node {

namespace {

constexpr std::chrono::seconds exec_connect_patience{10};
constexpr std::size_t out = 0, err = 1;

struct ExecPair {
    FileDescriptor ours, theirs;  // neither blocks
};

ExecPair make_pair_of_ends() {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0)
        throw system_error("cannot make a stream", errno);
    return {FileDescriptor(pair[0]), FileDescriptor(pair[1])};
}

FileDescriptor make_exec_event() {
    FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event) throw system_error("cannot follow a command", errno);
    return event;
}

Headers exec_headers(std::uint64_t term) {
    Headers headers;
    headers.add(std::string(term_header), std::to_string(term));
    return headers;
}

// Two threads: one hears the node, one moves bytes between the caller's descriptors and the node.
class RemoteExec final : public ExecProcess {
  public:
    RemoteExec(const Target& target, std::uint64_t term, const std::string& container, const ExecSpec& spec)
        : terminal_(spec.terminal),
          ended_(make_exec_event()),
          wake_(make_exec_event()),
          socket_(target, std::string(node_path) + "containers/" + percent_encode(container) + "/exec",
                  exec_headers(term), exec_connect_patience) {
        socket_.send_text(to_json(spec).dump());
        await_start();
        streams_[out] = make_pair_of_ends();
        if (!terminal_) streams_[err] = make_pair_of_ends();
        if (!terminal_) input_ = make_pair_of_ends();
        hearing_ = std::jthread([this] { hear(); });
        carrying_ = std::jthread([this] { carry(); });
    }

    ~RemoteExec() override {
        abandoned_ = true;
        ::shutdown(socket_.descriptor(), SHUT_RDWR);  // the node kills what still runs
        wake();
    }
    RemoteExec(const RemoteExec&) = delete;
    RemoteExec& operator=(const RemoteExec&) = delete;

    int input() const override { return terminal_ ? streams_[out].theirs.get() : input_.theirs.get(); }
    int output() const override { return streams_[out].theirs.get(); }
    int errors() const override { return terminal_ ? -1 : streams_[err].theirs.get(); }
    void close_input() override {
        if (!terminal_) ::shutdown(input_.theirs.get(), SHUT_WR);
    }
    int ended() const override { return ended_.get(); }
    int exit_code() override {
        over_.wait(false);
        return exit_code_;
    }
    bool exec_failed() const override { return exec_failed_; }
    void kill(int signal) override { tell(Json::object({{"signal", signal}})); }
    void resize(unsigned width, unsigned height) override {
        if (terminal_ && width > 0 && height > 0) tell(Json::object({{"width", width}, {"height", height}}));
    }

  private:
    struct Waiting {
        std::string bytes;
        bool ended = false;
    };

    void await_start();
    void hear();
    void take_order(const Json& message);
    void take_data(const std::string& frame);
    void finish();
    void carry();
    void give(std::size_t stream);
    void read_input();
    void wait();
    bool over() const;
    void tell(const Json& message);
    void send(const std::string& frame);
    void wake() const { ::eventfd_write(wake_.get(), 1); }
    int input_end() const { return terminal_ ? streams_[out].ours.get() : input_.ours.get(); }

    const bool terminal_;
    FileDescriptor ended_, wake_;
    ExecPair input_;
    std::array<ExecPair, 2> streams_;
    std::mutex send_mutex_;
    WebSocketClient socket_;
    mutable std::mutex mutex_;
    std::array<Waiting, 2> waiting_;  // output on its way to the caller
    std::size_t on_way_ = 0;          // bytes of input that the node has not taken
    bool told_ = false;               // the node has said its last word, or is lost
    bool input_open_ = true;          // the carrying thread's
    std::array<bool, 2> given_up_{};  // the same: the caller reads no more, or has read all
    int exit_code_ = exec_cut_code;
    std::atomic<bool> exec_failed_{false}, over_{false}, abandoned_{false};
    std::jthread hearing_, carrying_;
};

void RemoteExec::await_start() {
    const auto message = socket_.receive();
    if (!message || message->kind != WebSocketMessage::Kind::text)
        throw Error(ErrorCode::unavailable, "node was lost before the command began");
    const Json json = Json::parse(message->data);
    if (json.find("started") == nullptr) throw error_from_json(json);
}

void RemoteExec::hear() {
    try {
        for (;;) {
            const auto message = socket_.receive();
            if (!message || message->kind == WebSocketMessage::Kind::closed) break;
            if (message->kind == WebSocketMessage::Kind::binary)
                take_data(message->data);
            else
                take_order(Json::parse(message->data));
        }
    } catch (const Error& e) {
        log::debug("a command's node is lost", {{"error", e.what()}});
    }
    std::lock_guard lock(mutex_);
    told_ = true;
    wake();
}

void RemoteExec::take_data(const std::string& frame) {
    if (frame.empty()) return;
    const std::size_t stream = frame[0] == static_cast<char>(ExecStreamId::errors) ? err : out;
    std::lock_guard lock(mutex_);
    if (frame.size() > 1)
        waiting_[stream].bytes.append(frame, 1);
    else
        waiting_[stream].ended = true;
    wake();
}

void RemoteExec::take_order(const Json& message) {
    const JsonFields fields(message);
    std::lock_guard lock(mutex_);
    on_way_ -= std::min(on_way_, static_cast<std::size_t>(fields.integer("taken").value_or(0)));
    if (const auto code = fields.integer("exit_code")) {
        exit_code_ = static_cast<int>(*code);
        exec_failed_ = fields.boolean("exec_failed").value_or(false);
    }
    wake();
}

void RemoteExec::carry() {
    while (!abandoned_ && !over()) {
        give(out);
        if (!terminal_) give(err);
        read_input();
        if (!over()) wait();
    }
    finish();
}

// The node has ended, and the caller has all that it sent. What a caller does not take ends with the object.
bool RemoteExec::over() const {
    std::lock_guard lock(mutex_);
    return told_ && waiting_[out].bytes.empty() && waiting_[err].bytes.empty();
}

void RemoteExec::finish() {
    for (const ExecPair& pair : streams_)
        if (pair.ours) ::shutdown(pair.ours.get(), SHUT_WR);
    over_ = true;
    over_.notify_all();
    ::eventfd_write(ended_.get(), 1);
}

void RemoteExec::give(std::size_t stream) {
    std::size_t taken = 0;
    bool ended = false;
    {
        std::lock_guard lock(mutex_);
        Waiting& waiting = waiting_[stream];
        while (!waiting.bytes.empty()) {
            const ssize_t count =
                ::send(streams_[stream].ours.get(), waiting.bytes.data(), waiting.bytes.size(), MSG_NOSIGNAL);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno == EAGAIN) break;
            // A caller that reads no more must not keep the command from ending: what it leaves is dropped.
            const std::size_t gone = count < 0 ? waiting.bytes.size() : static_cast<std::size_t>(count);
            waiting.bytes.erase(0, gone);
            taken += gone;
        }
        ended = waiting.ended && waiting.bytes.empty() && !given_up_[stream];
    }
    if (taken > 0) tell(Json::object({{"taken", taken}}));
    if (!ended) return;
    given_up_[stream] = true;
    if (!terminal_) ::shutdown(streams_[stream].ours.get(), SHUT_WR);
}

void RemoteExec::read_input() {
    while (input_open_) {
        {
            std::lock_guard lock(mutex_);
            if (on_way_ >= exec_window || told_) return;
        }
        std::string block(exec_block, '\0');
        const ssize_t count = ::recv(input_end(), block.data(), block.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        block.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        input_open_ = count > 0;
        {
            std::lock_guard lock(mutex_);
            on_way_ += block.size();
        }
        send(exec_frame(ExecStreamId::input, block));
    }
}

void RemoteExec::wait() {
    std::array<pollfd, 4> all{
        {{wake_.get(), POLLIN, 0}, {-1, POLLOUT, 0}, {-1, POLLOUT, 0}, {-1, POLLIN, 0}}};
    {
        std::lock_guard lock(mutex_);
        for (const std::size_t stream : {out, err})
            if (!waiting_[stream].bytes.empty()) all[1 + stream].fd = streams_[stream].ours.get();
        if (input_open_ && on_way_ < exec_window && !told_) all[3].fd = input_end();
    }
    while (::poll(all.data(), all.size(), -1) < 0 && errno == EINTR) continue;
    eventfd_t count = 0;
    if (all[0].revents != 0) ::eventfd_read(wake_.get(), &count);
}

void RemoteExec::tell(const Json& message) {
    try {
        std::lock_guard lock(send_mutex_);
        socket_.send_text(message.dump());
    } catch (const Error&) {
        return;  // it has ended
    }
}

void RemoteExec::send(const std::string& frame) {
    try {
        std::lock_guard lock(send_mutex_);
        socket_.send_binary(frame);
    } catch (const Error&) {
        return;
    }
}

}  // namespace

std::unique_ptr<ExecProcess> exec_remotely(const Target& target, std::uint64_t term,
                                           const std::string& container, const ExecSpec& spec) {
    return std::make_unique<RemoteExec>(target, term, container, spec);
}

}  // namespace svc::node
