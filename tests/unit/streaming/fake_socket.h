#pragma once
// A WebSocket without a connection: keeps what was sent, and is as slow as the test wants.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/net/websocket/websocket.h"

namespace svc::test {

// One thread.
class FakeSocket final : public WebSocket {
  public:
    struct Closed {
        int code = 0;
        std::string reason;
    };

    bool send_text(std::string message) override {
        if (closed || aborted) return false;
        if (!reads) queued += message.size();
        sent.push_back(std::move(message));
        return true;
    }
    bool send_binary(std::string message) override { return send_text(std::move(message)); }
    void ask_for_turn() override {}
    std::size_t queued_bytes() const override { return queued; }
    void close(CloseCode code, std::string_view reason) override {
        if (!closed) closed = Closed{static_cast<int>(code), std::string(reason)};
    }
    void abort() override { aborted = true; }
    void pause_reading() override { paused = true; }
    void resume_reading() override { paused = false; }

    std::vector<std::string> sent;
    std::optional<Closed> closed;
    bool aborted = false, paused = false;
    bool reads = true;
    std::size_t queued = 0;
};

// One end of a session: the handler the relay made, and the socket it writes to.
class FakePeer {
  public:
    explicit FakePeer(std::shared_ptr<WebSocketHandler> handler) : handler_(std::move(handler)) {
        handler_->on_open(socket_);
    }
    void say(std::string text) { handler_->on_message(false, std::move(text)); }
    void say_binary(std::string bytes) { handler_->on_message(true, std::move(bytes)); }
    void hang_up(std::uint16_t code = 1005) { handler_->on_close(code, ""); }
    void read_all() {
        socket_->queued = 0;
        socket_->reads = true;
        handler_->on_sent();
    }
    FakeSocket& socket() { return *socket_; }
    std::vector<std::string> take() { return std::exchange(socket_->sent, {}); }
    int close_code() const { return socket_->closed ? socket_->closed->code : 0; }
    std::string close_reason() const { return socket_->closed ? socket_->closed->reason : ""; }

  private:
    std::shared_ptr<WebSocketHandler> handler_;
    std::shared_ptr<FakeSocket> socket_ = std::make_shared<FakeSocket>();
};

}  // namespace svc::test
