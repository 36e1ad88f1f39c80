#pragma once
// The server's side of WebSocket connections (RFC 6455). wslay does the framing, inside websocket*.cpp. The
// server calls it through WebSocketHandler::make_session() alone, so that a program without handlers does not
// link wslay.
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

// Sends on a connection. Thread-safe; usable while the object is held, even after the connection has ended.
// Messages of one thread keep their order.
class WebSocket {
  public:
    virtual ~WebSocket() = default;
    // Queues a message; text must be UTF-8. False when the connection is closed or closing, or takes no more.
    // Never blocks; the caller watches queued_bytes().
    virtual bool send_text(std::string message) = 0;
    virtual bool send_binary(std::string message) = 0;
    // The same for a text that many connections send: it is in memory once.
    virtual bool send_shared_text(const std::shared_ptr<const std::string>& message) {
        return send_text(*message);
    }
    // Makes the server call on_sent() soon. Connections that ask at about the same time get their turn
    // together, in batches with pauses of up to 25 ms, so that each has several messages to send at once.
    // Cheap when the turn was asked for already.
    virtual void ask_for_turn() = 0;
    virtual std::size_t queued_bytes() const = 0;
    // Sends the queued messages, then the close frame, and gives the peer 5 s to answer. Later calls do
    // nothing.
    virtual void close(CloseCode code, std::string_view reason) = 0;
    // Drops the queue and the connection at once.
    virtual void abort() = 0;
    // Leaves the peer's messages in the kernel, so that the peer has to wait. Small messages that are read
    // already (4 KiB in all) still arrive.
    virtual void pause_reading() = 0;
    virtual void resume_reading() = 0;
};

// Receives the messages of a connection. The server calls it on an I/O thread, one call at a time. It must
// not block; an exception ends the connection.
class WebSocketHandler {
  public:
    virtual ~WebSocketHandler() = default;
    virtual void on_open(std::shared_ptr<WebSocket> socket) = 0;
    virtual void on_message(bool binary, std::string message) = 0;
    virtual void on_sent() {}  // the queue has become empty after it was not, or a turn was asked for
    // The last call, with the close code of the peer (1005: it sent none); 1002 after a fault of the peer, an
    // end within a message, or silence; 1006 when the connection broke. The handler must drop the WebSocket
    // here.
    virtual void on_close(std::uint16_t code, std::string_view reason) = 0;

    // Only the server calls it: makes the object that frames the messages of one connection.
    virtual std::shared_ptr<net::UpgradedSession> make_session(std::shared_ptr<WebSocketHandler> self,
                                                               net::UpgradedSettings settings);
};

struct WebSocketLimits {
    std::size_t max_message = 1U << 20;
    int ping_seconds = 10;  // pings are not sent over Unix sockets: a dead peer shows there by itself
    int dead_seconds = 30;  // without a pong or message
};

}  // namespace svc
