#include "server/http/event_stream.h"

#include <memory>
#include <string>

#include "libsvc/base/fifo.h"
#include "libsvc/base/guarded.h"
#include "libsvc/net/websocket/websocket.h"

namespace svc::server {

namespace {

constexpr std::size_t window_bytes = std::size_t{64} << 10U;  // handed to the connection at once

// The events that wait for a client. They go to its connection a window at a time, in its turn, on the I/O
// thread: so the length of the queue is exact, a text is in memory once for all clients, and the publisher
// does not send.
class EventQueue {
  public:
    explicit EventQueue(EventQueueLimits limits) : limits_(limits) {}

    // False when the subscriber was too slow.
    bool push(const std::shared_ptr<const std::string>& text) {
        if (closed_) return false;
        waiting_.push(text);
        bytes_ += text->size();
        if (bytes_ <= limits_.bytes && waiting_.size() <= limits_.messages) return true;
        close("too slow: " + std::to_string(waiting_.size()) + " messages queued");
        return false;
    }
    void open(std::shared_ptr<WebSocket> socket) {
        socket_ = std::move(socket);
        if (!reason_.empty()) return socket_->close(CloseCode::try_again_later, reason_);
        pump();
    }
    // Like push(), and asks for a turn of the connection.
    bool push_live(const std::shared_ptr<const std::string>& text) {
        if (!push(text)) return false;
        if (socket_) socket_->ask_for_turn();
        return true;
    }
    void pump() {
        if (!socket_ || waiting_.empty()) return;
        for (std::size_t queued = socket_->queued_bytes(); queued < window_bytes && !waiting_.empty();) {
            const auto text = waiting_.pop();
            bytes_ -= text->size();
            queued += text->size();
            if (!socket_->send_shared_text(text)) return end();
        }
    }
    // How many bytes the connection can take besides those that are queued in it.
    std::size_t room() const {
        if (!socket_ || !waiting_.empty()) return 0;
        const std::size_t queued = socket_->queued_bytes();
        return queued < window_bytes ? window_bytes - queued : 0;
    }
    void end() {
        closed_ = true;
        waiting_.clear();
        bytes_ = 0;
        socket_.reset();
    }

  private:
    void close(std::string reason) {
        reason_ = std::move(reason);
        const auto socket = socket_;
        end();
        if (socket) socket->close(CloseCode::try_again_later, reason_);
    }

    EventQueueLimits limits_;
    Fifo<std::shared_ptr<const std::string>> waiting_;
    std::size_t bytes_ = 0;
    std::shared_ptr<WebSocket> socket_;
    std::string reason_;  // why it was closed before it opened
    bool closed_ = false;
};

class EventSocket final : public WebSocketHandler {
  public:
    EventSocket(EventBus& events, std::set<EventType> types, EventQueueLimits limits,
                std::optional<std::uint64_t> since)
        : queue_(EventQueue(limits)) {
        const auto receive = [this](const Event& event) {
            return queue_.with([&](EventQueue& queue) { return queue.push_live(event.text); });
        };
        if (since)
            replay_ = events.replay(std::move(types), receive, *since);
        else
            subscription_ = events.subscribe(std::move(types), receive);
    }

    void on_open(std::shared_ptr<WebSocket> socket) override {
        queue_.with([&](EventQueue& queue) { queue.open(std::move(socket)); });
        read_past();
    }
    void on_message(bool, std::string) override {}  // subscribers have nothing to say
    void on_sent() override {
        queue_.with([](EventQueue& queue) { queue.pump(); });
        read_past();
    }
    void on_close(std::uint16_t, std::string_view) override {
        replay_.reset();
        subscription_.reset();
        queue_.with([](EventQueue& queue) { queue.end(); });
    }

  private:
    // Without the lock of the queue, because the receiver takes that lock under the lock of the bus. Until
    // the stream is live only this function fills the queue, and it reads no more than the connection takes:
    // the number of past events does not count against the client.
    void read_past() {
        while (replay_ && !live_) {
            const std::size_t room = queue_.with([](const EventQueue& queue) { return queue.room(); });
            if (room == 0) return;
            const EventPage page = replay_->next(room);
            queue_.with([&](EventQueue& queue) {
                for (const auto& text : page.texts) {
                    queue.push(text);
                    queue.pump();
                }
            });
            live_ = page.live;
        }
    }

    Guarded<EventQueue> queue_;
    bool live_ = false;  // nothing is left to replay; only the connection's thread uses it
    // Last: they end before the queue is destroyed. A subscription has one of the two.
    std::unique_ptr<EventBus::Replay> replay_;
    std::unique_ptr<EventBus::Handle> subscription_;
};

}  // namespace

Response event_stream(EventBus& events, std::set<EventType> types, EventQueueLimits limits,
                      std::optional<std::uint64_t> since) {
    Response response;
    response.websocket = std::make_shared<EventSocket>(events, std::move(types), limits, since);
    return response;
}

}  // namespace svc::server
