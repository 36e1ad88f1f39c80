#include "server/event_stream.h"

#include <deque>
#include <memory>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/net/websocket.h"

namespace svc::server {

namespace {

constexpr std::size_t window_bytes = std::size_t{64} << 10U;  // handed to the connection at once

// Events wait here and go to the connection a window at a time: the queue's length is exact, and each text is
// held once for all subscribers.
class EventQueue {
  public:
    explicit EventQueue(EventQueueLimits limits) : limits_(limits) {}

    // False when the subscriber was too slow.
    bool push(const Event& event) {
        if (closed_) return false;
        waiting_.push_back(event.text);
        bytes_ += event.text->size();
        pump();
        if (bytes_ <= limits_.bytes && waiting_.size() <= limits_.messages) return true;
        close("too slow: " + std::to_string(waiting_.size()) + " messages queued");
        return false;
    }
    void open(std::shared_ptr<WebSocket> socket) {
        socket_ = std::move(socket);
        if (!reason_.empty()) return socket_->close(CloseCode::try_again_later, reason_);
        pump();
    }
    void pump() {
        while (socket_ && !waiting_.empty() && socket_->queued_bytes() < window_bytes) {
            bytes_ -= waiting_.front()->size();
            const bool sent = socket_->send_text(*waiting_.front());
            waiting_.pop_front();
            if (!sent) return end();
        }
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
    std::deque<std::shared_ptr<const std::string>> waiting_;
    std::size_t bytes_ = 0;
    std::shared_ptr<WebSocket> socket_;
    std::string reason_;  // why it was closed before it opened
    bool closed_ = false;
};

class EventSocket final : public WebSocketHandler {
  public:
    EventSocket(EventBus& events, std::set<EventType> types, EventQueueLimits limits)
        : queue_(EventQueue(limits)),
          subscription_(events.subscribe(std::move(types), [this](const Event& event) {
              return queue_.with([&](EventQueue& queue) { return queue.push(event); });
          })) {}

    void on_open(std::shared_ptr<WebSocket> socket) override {
        queue_.with([&](EventQueue& queue) { queue.open(std::move(socket)); });
    }
    void on_message(bool, std::string) override {}  // subscribers have nothing to say
    void on_sent() override {
        queue_.with([](EventQueue& queue) { queue.pump(); });
    }
    void on_close(std::uint16_t, std::string_view) override {
        subscription_.reset();
        queue_.with([](EventQueue& queue) { queue.end(); });
    }

  private:
    Guarded<EventQueue> queue_;
    std::unique_ptr<EventBus::Handle> subscription_;  // last: ends before the queue goes
};

}  // namespace

Response event_stream(EventBus& events, std::set<EventType> types, EventQueueLimits limits) {
    Response response;
    response.websocket = std::make_shared<EventSocket>(events, std::move(types), limits);
    return response;
}

}  // namespace svc::server
