#pragma once
// WebSocket connections (RFC 6455). wslay does the framing, inside websocket*.cpp. The server reaches it
// through the handler alone, so a program without handlers does not link it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace svc {

// Close codes this project sends.
enum class CloseCode : std::uint16_t {
    normal = 1000,
    going_away = 1001,  // the daemon stops
    protocol_error = 1002,
    policy = 1008,  // not allowed any more: certificate removed
    too_big = 1009,
    internal = 1011,
    try_again_later = 1013,  // the subscriber was too slow for its queue
};

namespace net {
class UpgradedSession;
struct UpgradedSettings;
}  // namespace net

// The sending half, usable from any thread while the object is held. One writer per connection keeps the
// order.
class WebSocket {
  public:
    virtual ~WebSocket() = default;
    // Queues a message; text must be UTF-8. False when the connection is closed or closing, or takes no more.
    // Never blocks; the caller watches queued_bytes().
    virtual bool send_text(std::string message) = 0;
    virtual bool send_binary(std::string message) = 0;
    // A text that many connections send is held once for all of them.
    virtual bool send_shared_text(const std::shared_ptr<const std::string>& message) {
        return send_text(*message);
    }
    // Has on_sent() called soon. Those who ask at about the same time get their turn together, so that each
    // of many connections has several messages to send at once. Cheap when it was asked for already.
    virtual void ask_for_turn() = 0;
    virtual std::size_t queued_bytes() const = 0;
    // Sends what is queued, then the close frame; the peer gets 5 s to answer. Idempotent.
    virtual void close(CloseCode code, std::string_view reason) = 0;
    // Drops the queue and the connection at once.
    virtual void abort() = 0;
    // Messages stay in the kernel: back-pressure on the peer. Small ones already read (4 KiB in all) still
    // come.
    virtual void pause_reading() = 0;
    virtual void resume_reading() = 0;
};

// The receiving half. Calls come one at a time on an I/O thread and must not block; what they
// throw breaks the connection.
class WebSocketHandler {
  public:
    virtual ~WebSocketHandler() = default;
    virtual void on_open(std::shared_ptr<WebSocket> socket) = 0;
    virtual void on_message(bool binary, std::string message) = 0;
    virtual void on_sent() {}  // the queue has become empty after it was not, or a turn was asked for
    // The last call: the peer's close code (1005: none), or ours after a fault of the peer (1002: also an end
    // within a message, or silence), or 1006 when the connection broke. Drop the WebSocket here.
    virtual void on_close(std::uint16_t code, std::string_view reason) = 0;

    // For the server: the framing of one connection. Being defined in websocket.cpp, it links what it needs
    // there.
    virtual std::shared_ptr<net::UpgradedSession> make_session(std::shared_ptr<WebSocketHandler> self,
                                                               net::UpgradedSettings settings);
};

struct WebSocketLimits {
    std::size_t max_message = 1U << 20;
    int ping_seconds = 10;  // pings are not sent over Unix sockets: a dead peer shows there by itself
    int dead_seconds = 30;  // without a pong or message
};

}  // namespace svc
