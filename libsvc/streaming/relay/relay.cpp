#include "libsvc/streaming/relay/relay.h"

#include <mutex>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/streaming/relay/relay_session.h"

namespace svc {

namespace {

using SessionPointer = std::shared_ptr<RelaySession>;

class MasterHandler final : public WebSocketHandler {
  public:
    explicit MasterHandler(SessionPointer session) : session_(std::move(session)) {}
    void on_open(std::shared_ptr<WebSocket> socket) override {
        socket_ = std::move(socket);
        session_->instance_opened(socket_);
    }
    void on_message(bool binary, std::string message) override {
        session_->instance_message(socket_, binary, std::move(message));
    }
    void on_sent() override { session_->instance_has_read(socket_); }
    void on_close(std::uint16_t, std::string_view) override {
        session_->instance_closed(socket_);
        socket_.reset();
    }

  private:
    const SessionPointer session_;
    std::shared_ptr<WebSocket> socket_;
};

class SlaveHandler final : public WebSocketHandler {
  public:
    SlaveHandler(SessionPointer session, RelayAdmission admission)
        : session_(std::move(session)), admission_(std::make_unique<RelayAdmission>(std::move(admission))) {}
    void on_open(std::shared_ptr<WebSocket> socket) override {
        socket_ = std::move(socket);
        session_->client_opened(socket_, std::move(*std::exchange(admission_, nullptr)));
    }
    void on_message(bool binary, std::string message) override {
        session_->client_message(socket_, binary, std::move(message));
    }
    void on_close(std::uint16_t, std::string_view) override {
        session_->client_closed(socket_);
        socket_.reset();
    }

  private:
    const SessionPointer session_;
    std::unique_ptr<RelayAdmission> admission_;
    std::shared_ptr<WebSocket> socket_;
};

}  // namespace

Relay::Relay(const Clock& clock, RelayLimits limits)
    : context_(std::make_shared<RelayContext>(RelayContext{clock, limits, nullptr})), media_(clock) {}

// Connections may outlive the relay: they keep their session.
Relay::~Relay() {
    for (const auto& session : all()) session->abandon();
    media_.end_all({"the gateway is stopping", end_code::gateway_stopping});
}

void Relay::listen(RelayEvents& events) {
    context_->events = &events;
}

void Relay::open(const std::string& id) {
    std::lock_guard lock(mutex_);
    auto& session = sessions_[id];
    if (!session) session = std::make_shared<RelaySession>(id, context_);
}

Relay::SessionPointer Relay::find(const std::string& id) const {
    std::shared_lock lock(mutex_);
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : found->second;
}

Relay::SessionPointer Relay::get(const std::string& id) const {
    if (auto session = find(id)) return session;
    throw Error(ErrorCode::not_found, "session not found");
}

Relay::SessionPointer Relay::take(const std::string& id) {
    std::lock_guard lock(mutex_);
    const auto node = sessions_.extract(id);
    if (node.empty()) throw Error(ErrorCode::not_found, "session not found");
    return node.mapped();
}

std::vector<Relay::SessionPointer> Relay::all() const {
    std::vector<SessionPointer> all;
    std::shared_lock lock(mutex_);
    all.reserve(sessions_.size());
    for (const auto& [id, session] : sessions_) all.push_back(session);
    return all;
}

void Relay::expect(const std::string& session, RelayClient client) {
    get(session)->expect(std::move(client));
}

void Relay::close(const std::string& session, const StreamEnd& end) {
    take(session)->end(end);
    media_.end(session, end);
}

void Relay::fail_client(const std::string& session, const StreamEnd& end) {
    get(session)->fail_client(end);
}

void Relay::stop() {
    for (const auto& session : all()) session->stop();
    media_.end_all({"the gateway is stopping", end_code::gateway_stopping});
}

std::shared_ptr<WebSocketHandler> Relay::master(const std::string& session) {
    return std::make_shared<MasterHandler>(get(session));
}

std::shared_ptr<WebSocketHandler> Relay::slave(const std::string& session, const std::string& client) {
    auto known = get(session);
    auto admission = known->admit(client);
    return std::make_shared<SlaveHandler>(std::move(known), std::move(admission));
}

std::shared_ptr<WebSocketHandler> Relay::media_of_client(const std::string& session,
                                                         const std::string& client) {
    const auto known = get(session);
    const RelayClient admitted = known->admit_media(client);
    auto handler = media_.open(session, client)->client();
    known->tell_of_media(admitted);
    return handler;
}

std::shared_ptr<WebSocketHandler> Relay::media_of_instance(const std::string& session,
                                                           const std::string& client) {
    get(session);
    return media_.get(session, client)->instance();
}

bool Relay::is_registered(const std::string& session) const {
    const auto known = find(session);
    return known && known->is_registered();
}

bool Relay::is_watchable(const std::string& session) const {
    const auto known = find(session);
    return known && known->is_watchable();
}

std::size_t Relay::sessions() const {
    std::shared_lock lock(mutex_);
    return sessions_.size();
}

void Relay::tick() {
    const SteadyTime now = context_->clock.steady_now();
    for (const auto& session : all()) session->tick(now);
    media_.tick();
}

}  // namespace svc
