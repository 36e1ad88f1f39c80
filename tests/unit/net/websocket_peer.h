#pragma once
// A server whose WebSocket sends everything back, and raw frames for a client that breaks the rules.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket.h"
#include "libsvc/net/websocket/websocket_frames.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

// Sends back what it gets, and keeps what a test asks about.
class EchoHandler : public WebSocketHandler {
  public:
    void on_open(std::shared_ptr<WebSocket> opened) override {
        socket = std::move(opened);
        open.set();
    }
    void on_message(bool binary, std::string message) override {
        ++received;
        if (message == "abort") return socket->abort();
        if (message == "close") return socket->close(CloseCode::policy, "as you wish");
        if (message == "throw") throw Error(ErrorCode::internal, "handler failed");
        binary ? socket->send_binary(std::move(message)) : socket->send_text(std::move(message));
    }
    void on_sent() override { sent.set(); }
    void on_close(std::uint16_t code, std::string_view) override {
        close_code = code;
        closed.set();
    }
    std::shared_ptr<WebSocket> socket;
    Signal open, sent, closed;
    std::atomic<int> received{0};
    std::atomic<int> close_code{0};
};

struct WebSocketServer : TestServer {
    std::shared_ptr<EchoHandler> handler = std::make_shared<EchoHandler>();
    void run() {
        service.add("/ws", [this](Request&) {
            Response response;
            response.websocket = handler;
            return response;
        });
        start();
    }
};

inline const std::string websocket_handshake =
    "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

// A client after the handshake, with which it has sent the first frames.
inline RawClient upgraded(WebSocketServer& t, const std::string& frames = "") {
    RawClient client(t.unix_target());
    client.send(websocket_handshake + frames);
    CHECK(client.reply().status == 101);
    return client;
}

// What the server answers to raw frames, up to the end of the connection.
inline std::string answer_to(WebSocketServer& t, const std::string& frames) {
    return upgraded(t, frames).read_to_end();
}

// A frame whose first byte is `first`, as a client sends it, or a server (not masked).
inline std::string websocket_frame(int first, std::string_view payload, bool masked = true) {
    std::string out;
    out += static_cast<char>(first);
    const int mask_bit = masked ? 0x80 : 0;
    if (payload.size() < 126)
        out += static_cast<char>(mask_bit | static_cast<int>(payload.size()));
    else {
        out += static_cast<char>(mask_bit | 126);
        out += static_cast<char>(payload.size() >> 8);
        out += static_cast<char>(payload.size() & 0xff);
    }
    if (masked) out += std::string(4, '\0');
    return out + std::string(payload);
}

// The code of the first close frame among `frames`; 0: there is none.
inline int close_code_of(const std::string& frames) {
    const auto size = frames.size();
    for (std::size_t at = 0; at + 4 <= size; at += 2 + static_cast<unsigned char>(frames[at + 1]))
        if (static_cast<unsigned char>(frames[at]) == 0x88)
            return static_cast<unsigned char>(frames[at + 2]) << 8 |
                   static_cast<unsigned char>(frames[at + 3]);
    return 0;
}

}  // namespace svc::test
