#include "server/cluster/websocket_relay.h"

#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <optional>

#include "libsvc/base/error.h"

namespace svc::server {

namespace {

constexpr std::size_t relay_window_bytes = std::size_t{1} << 20U;  // of each direction
constexpr std::uint16_t no_code = 1005, broken = 1006;             // never sent
constexpr std::chrono::seconds last_answer{5};

}  // namespace

// The handler's calls come from the server's I/O thread; read() and write() have a thread each.
class WebSocketRelays::Relay final : public WebSocketHandler {
  public:
    explicit Relay(WebSocketClient leader) : leader_(std::move(leader)) {}

    void on_open(std::shared_ptr<WebSocket> socket) override {
        const std::lock_guard lock(mutex_);
        client_ = std::move(socket);
        news_.notify_all();
    }
    void on_message(bool binary, std::string message) override {
        const std::lock_guard lock(mutex_);
        waiting_bytes_ += message.size();
        waiting_.push_back({binary, std::move(message)});
        if (waiting_bytes_ > relay_window_bytes && client_) client_->pause_reading();
        news_.notify_all();
    }
    void on_sent() override {
        const std::lock_guard lock(mutex_);
        news_.notify_all();
    }
    void on_close(std::uint16_t code, std::string_view) override {
        const std::lock_guard lock(mutex_);
        closed_by_client_ = code;
        client_.reset();
        news_.notify_all();
    }

    // What the leader sends, to the client.
    void read();
    // What the client sends, to the leader.
    void write();
    // The client never came, or the program ends.
    void end() {
        const std::lock_guard lock(mutex_);
        if (!closed_by_client_) closed_by_client_ = broken;
        ::shutdown(leader_.descriptor(), SHUT_RDWR);
        news_.notify_all();
    }
    bool ended() const { return threads_ended_ == 2; }

  private:
    struct Message {
        bool binary = false;
        std::string data;
    };
    std::optional<Message> next();
    bool deliver(WebSocketMessage message);
    void close_client(std::uint16_t code, const std::string& reason);
    void close_leader();
    std::shared_ptr<WebSocket> client_with_room();

    WebSocketClient leader_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::shared_ptr<WebSocket> client_;  // from on_open() to on_close()
    std::deque<Message> waiting_;
    std::size_t waiting_bytes_ = 0;
    std::optional<std::uint16_t> closed_by_client_;
    bool closed_by_leader_ = false;
    std::atomic<int> threads_ended_{0};
};

void WebSocketRelays::Relay::read() {
    try {
        while (auto message = leader_.receive())
            if (!deliver(std::move(*message))) break;
    } catch (const Error& e) {
        close_client(broken, e.what());
    }
    {
        const std::lock_guard lock(mutex_);
        closed_by_leader_ = true;
        news_.notify_all();
    }
    ++threads_ended_;
}

// False at the end.
bool WebSocketRelays::Relay::deliver(WebSocketMessage message) {
    using Kind = WebSocketMessage::Kind;
    if (message.kind == Kind::closed) return close_client(message.close_code, message.data), false;
    const auto client = client_with_room();
    if (!client) return false;
    return message.kind == Kind::text ? client->send_text(std::move(message.data))
                                      : client->send_binary(std::move(message.data));
}

// Null when the client is gone.
std::shared_ptr<WebSocket> WebSocketRelays::Relay::client_with_room() {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [this] {
        return closed_by_client_ || (client_ && client_->queued_bytes() < relay_window_bytes);
    });
    return closed_by_client_ ? nullptr : client_;
}

void WebSocketRelays::Relay::close_client(std::uint16_t code, const std::string& reason) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [this] { return closed_by_client_ || client_; });
    const auto client = client_;
    lock.unlock();
    if (!client) return;
    if (code == broken)
        client->abort();
    else
        client->close(code == no_code ? CloseCode::normal : static_cast<CloseCode>(code), reason);
}

void WebSocketRelays::Relay::write() {
    try {
        while (auto message = next()) {
            if (message->binary)
                leader_.send_binary(message->data);
            else
                leader_.send_text(message->data);
        }
        close_leader();
    } catch (const Error&) {
        // The reader hears of it as well.
    }
    ++threads_ended_;
}

// Nothing at the end.
std::optional<WebSocketRelays::Relay::Message> WebSocketRelays::Relay::next() {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [this] { return !waiting_.empty() || closed_by_client_ || closed_by_leader_; });
    if (waiting_.empty() || closed_by_leader_) return {};
    Message message = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= message.data.size();
    if (waiting_bytes_ <= relay_window_bytes / 2 && client_) client_->resume_reading();
    return message;
}

// A connection that broke breaks there as well: the leader tells the two ends apart. A leader that does not
// answer the close is left.
void WebSocketRelays::Relay::close_leader() {
    std::unique_lock lock(mutex_);
    if (closed_by_leader_) return;
    const std::uint16_t code = closed_by_client_.value_or(broken);
    lock.unlock();
    if (code != broken) leader_.close(code == no_code ? 1000 : code);
    lock.lock();
    if (code != broken) news_.wait_for(lock, last_answer, [this] { return closed_by_leader_; });
    ::shutdown(leader_.descriptor(), SHUT_RDWR);
}

WebSocketRelays::WebSocketRelays(std::size_t most) : most_(most) {}

WebSocketRelays::~WebSocketRelays() {
    stop();
}

namespace {

// What the server holds: its end tells that no WebSocket came of it.
class ClientEnd final : public WebSocketHandler {
  public:
    ClientEnd(std::shared_ptr<WebSocketHandler> relay, std::function<void()> end)
        : relay_(std::move(relay)), end_(std::move(end)) {}
    ~ClientEnd() override {
        if (!closed_) end_();
    }
    ClientEnd(const ClientEnd&) = delete;
    ClientEnd& operator=(const ClientEnd&) = delete;

    void on_open(std::shared_ptr<WebSocket> socket) override { relay_->on_open(std::move(socket)); }
    void on_message(bool binary, std::string message) override {
        relay_->on_message(binary, std::move(message));
    }
    void on_sent() override { relay_->on_sent(); }
    void on_close(std::uint16_t code, std::string_view reason) override {
        closed_ = true;
        relay_->on_close(code, reason);
    }

  private:
    std::shared_ptr<WebSocketHandler> relay_;
    std::function<void()> end_;
    bool closed_ = false;
};

}  // namespace

std::shared_ptr<WebSocketHandler> WebSocketRelays::add(WebSocketClient leader) {
    const std::lock_guard lock(mutex_);
    drop_ended();
    if (stopped_ || running_.size() >= most_)
        throw Error(ErrorCode::exhausted, "too many websockets are relayed");
    const auto relay = std::make_shared<Relay>(std::move(leader));
    running_.push_back({relay, std::jthread([relay] { relay->read(); }), {}});
    running_.back().writer = std::jthread([relay] { relay->write(); });
    return std::make_shared<ClientEnd>(relay, [relay] { relay->end(); });
}

void WebSocketRelays::drop_ended() {
    std::erase_if(running_, [](const Running& running) { return running.relay->ended(); });
}

void WebSocketRelays::stop() {
    std::list<Running> ending;
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        ending.swap(running_);
    }
    for (const Running& running : ending) running.relay->end();
}

}  // namespace svc::server
