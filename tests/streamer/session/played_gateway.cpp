#include "tests/streamer/session/played_gateway.h"

#include <stdexcept>

namespace svc::test {

class PlayedGateway::Handler final : public WebSocketHandler {
  public:
    explicit Handler(std::shared_ptr<State> state) : state_(std::move(state)) {}
    void on_open(std::shared_ptr<WebSocket> opened) override {
        std::lock_guard lock(state_->mutex);
        state_->socket = std::move(opened);
        ++state_->open;
        ++state_->all;
    }
    void on_message(bool, std::string message) override {
        const auto listener = [&] {
            std::lock_guard lock(state_->mutex);
            state_->received.push_back(message);
            state_->heard.notify_all();
            return state_->listener;
        }();
        if (listener) listener(Json::parse(message));
    }
    void on_close(std::uint16_t, std::string_view) override {
        std::lock_guard lock(state_->mutex);
        --state_->open;
    }

  private:
    std::shared_ptr<State> state_;
};

PlayedGateway::PlayedGateway() {
    server_.with_tls = true;
    server_.named = {name};
    server_.service.add("/1.0/sessions/s1/sockets/master", [this](Request& request) {
        {
            std::lock_guard lock(state_->mutex);
            state_->path = request.path;
            state_->token = request.query["token"];
        }
        Response response;
        response.websocket = std::make_shared<Handler>(state_);
        return response;
    });
    server_.start();
}

std::string PlayedGateway::url() const {
    const Target target = server_.tls_target();
    return "wss://" + target.host + ":" + std::to_string(target.port) +
           "/1.0/sessions/s1/sockets/master?token=secret";
}

streamer::GatewayAddress PlayedGateway::address() const {
    return streamer::GatewayAddress::parse(url(), fingerprint());
}

void PlayedGateway::on_message(std::function<void(const Json&)> listener) {
    std::lock_guard lock(state_->mutex);
    state_->listener = std::move(listener);
}

void PlayedGateway::send(const std::string& text) {
    std::lock_guard lock(state_->mutex);
    state_->socket->send_text(text);
}

void PlayedGateway::drop() {
    std::lock_guard lock(state_->mutex);
    state_->socket->abort();
}

std::vector<std::string> PlayedGateway::received() {
    std::lock_guard lock(state_->mutex);
    return state_->received;
}

Json PlayedGateway::await(const std::string& type) {
    Json found;
    std::unique_lock lock(state_->mutex);
    const bool came = state_->heard.wait_for(lock, std::chrono::minutes(1), [&] {
        while (awaited_ < state_->received.size()) {
            found = Json::parse(state_->received[awaited_++]);
            if (found.at("type") == Json(type)) return true;
        }
        return false;
    });
    if (!came) throw std::runtime_error("the gateway did not hear " + type);
    return found;
}

int PlayedGateway::connections() {
    std::lock_guard lock(state_->mutex);
    return state_->open;
}

int PlayedGateway::all_connections() {
    std::lock_guard lock(state_->mutex);
    return state_->all;
}

std::string PlayedGateway::path() {
    std::lock_guard lock(state_->mutex);
    return state_->path;
}

std::string PlayedGateway::query_token() {
    std::lock_guard lock(state_->mutex);
    return state_->token;
}

}  // namespace svc::test
