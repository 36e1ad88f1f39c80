#include "tests/streamer/session/played_media.h"

#include <stdexcept>

namespace svc::test {

class PlayedMedia::Handler final : public WebSocketHandler {
  public:
    explicit Handler(std::shared_ptr<State> state) : state_(std::move(state)) {}
    void on_open(std::shared_ptr<WebSocket> socket) override {
        std::lock_guard lock(state_->mutex);
        state_->socket = std::move(socket);
        state_->changed.notify_all();
    }
    void on_message(bool binary, std::string message) override {
        std::lock_guard lock(state_->mutex);
        if (binary && state_->stops) state_->socket->pause_reading();
        state_->messages.push_back({binary, std::move(message)});
        state_->changed.notify_all();
    }
    void on_close(std::uint16_t, std::string_view) override {
        std::lock_guard lock(state_->mutex);
        state_->socket.reset();
    }

  private:
    std::shared_ptr<State> state_;
};

PlayedMedia::PlayedMedia() {
    server_.with_tls = true;
    server_.service.add("/1.0/sessions/s1/sockets/media", [this](Request&) {
        Response response;
        response.websocket = std::make_shared<Handler>(state_);
        return response;
    });
    server_.start();
}

streamer::GatewayAddress PlayedMedia::address() const {
    const Target target = server_.tls_target();
    return streamer::GatewayAddress::parse("wss://" + target.host + ":" + std::to_string(target.port) +
                                               "/1.0/sessions/s1/sockets/master?token=secret",
                                           target.server_fingerprint);
}

void PlayedMedia::send(const std::string& text) {
    std::unique_lock lock(state_->mutex);
    if (!state_->changed.wait_for(lock, std::chrono::minutes(1), [&] { return state_->socket != nullptr; }))
        throw std::runtime_error("nobody has connected");
    state_->socket->send_text(text);
}

void PlayedMedia::send_binary(const std::string& bytes) {
    std::lock_guard lock(state_->mutex);
    state_->socket->send_binary(bytes);
}

MediaMessage PlayedMedia::next() {
    std::unique_lock lock(state_->mutex);
    if (!state_->changed.wait_for(lock, std::chrono::minutes(1), [&] { return !state_->messages.empty(); }))
        throw std::runtime_error("no message came");
    MediaMessage first = std::move(state_->messages.front());
    state_->messages.pop_front();
    return first;
}

void PlayedMedia::stop_reading() {
    std::lock_guard lock(state_->mutex);
    state_->stops = true;
}

void PlayedMedia::read_again() {
    std::lock_guard lock(state_->mutex);
    state_->stops = false;
    if (state_->socket) state_->socket->resume_reading();
}

}  // namespace svc::test
