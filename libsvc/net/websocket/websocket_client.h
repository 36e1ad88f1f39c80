#pragma once
// The client side of a WebSocket, blocking; wslay does the framing.
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/request.h"

namespace svc {

struct WebSocketMessage {
    enum class Kind { text, binary, closed } kind = Kind::text;
    std::string data;  // of `closed`: the reason
    std::uint16_t close_code = 0;
};

// One thread may receive while another sends. Answers pings. The server's pings are expected every 10 s on
// TCP; a connection silent for 30 s counts as broken.
class WebSocketClient {
  public:
    // Throws unavailable when the server cannot be reached and the mapped Error (with the body's `error`
    // text) when it answers anything but 101.
    // `patience` is of each step of connecting. That ends soon after `stop` was requested, as with a server
    // that cannot be reached (ClientChannel tells of exceptions); later `stop` has no effect.
    WebSocketClient(const Target& target, const std::string& path, const Headers& headers = {},
                    std::chrono::milliseconds patience = std::chrono::seconds(30),
                    const std::stop_token& stop = {});
    ~WebSocketClient();
    WebSocketClient(WebSocketClient&&) noexcept;
    void send_text(
        std::string_view message);  // blocks while the peer is slow; throws unavailable when closed
    void send_binary(std::string_view message);
    // Nothing on timeout. `closed` once, at the end (1006 when the connection broke).
    std::optional<WebSocketMessage> receive(std::optional<std::chrono::milliseconds> timeout = std::nullopt);
    void close(std::uint16_t code = 1000);  // sends the close frame
    int descriptor() const;                 // the socket, for shutdown() from a signal-driven thread

  private:
    class Connection;
    std::unique_ptr<Connection> connection_;
};

}  // namespace svc
