#include "libsvc/streaming/relay.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/streaming/relay_session.h"

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

// The lock is held to look up alone; messages do not come here.
class Relay::Implementation {
  public:
    Implementation(const Clock& clock, RelayLimits limits)
        : context_(std::make_shared<RelayContext>(RelayContext{clock, limits, nullptr})) {}

    void listen(RelayEvents& events) { context_->events = &events; }
    void open(const std::string& id) {
        std::lock_guard lock(mutex_);
        auto& session = sessions_[id];
        if (!session) session = std::make_shared<RelaySession>(id, context_);
    }
    SessionPointer get(const std::string& id) const {
        if (auto session = find(id)) return session;
        throw Error(ErrorCode::not_found, "session not found");
    }
    SessionPointer find(const std::string& id) const {
        std::shared_lock lock(mutex_);
        const auto found = sessions_.find(id);
        return found == sessions_.end() ? nullptr : found->second;
    }
    SessionPointer take(const std::string& id) {
        std::lock_guard lock(mutex_);
        const auto node = sessions_.extract(id);
        if (node.empty()) throw Error(ErrorCode::not_found, "session not found");
        return node.mapped();
    }
    std::vector<SessionPointer> all() const {
        std::vector<SessionPointer> all;
        std::shared_lock lock(mutex_);
        all.reserve(sessions_.size());
        for (const auto& [id, session] : sessions_) all.push_back(session);
        return all;
    }
    std::size_t size() const {
        std::shared_lock lock(mutex_);
        return sessions_.size();
    }
    SteadyTime now() const { return context_->clock.steady_now(); }

  private:
    const std::shared_ptr<RelayContext> context_;
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::string, SessionPointer> sessions_;
};

Relay::Relay(const Clock& clock, RelayLimits limits)
    : implementation_(std::make_shared<Implementation>(clock, limits)) {}

// Connections may outlive us.
Relay::~Relay() {
    for (const auto& session : implementation_->all()) session->abandon();
}

void Relay::listen(RelayEvents& events) {
    implementation_->listen(events);
}

void Relay::open(const std::string& session) {
    implementation_->open(session);
}

void Relay::expect(const std::string& session, RelayClient client) {
    implementation_->get(session)->expect(std::move(client));
}

void Relay::close(const std::string& session, const StreamEnd& end) {
    implementation_->take(session)->end(end);
}

void Relay::fail_client(const std::string& session, const StreamEnd& end) {
    implementation_->get(session)->fail_client(end);
}

void Relay::stop() {
    for (const auto& session : implementation_->all()) session->stop();
}

std::shared_ptr<WebSocketHandler> Relay::master(const std::string& session) {
    return std::make_shared<MasterHandler>(implementation_->get(session));
}

std::shared_ptr<WebSocketHandler> Relay::slave(const std::string& session, const std::string& client) {
    auto known = implementation_->get(session);
    auto admission = known->admit(client);
    return std::make_shared<SlaveHandler>(std::move(known), std::move(admission));
}

bool Relay::is_registered(const std::string& session) const {
    const auto known = implementation_->find(session);
    return known && known->is_registered();
}

std::size_t Relay::sessions() const {
    return implementation_->size();
}

void Relay::tick() {
    const SteadyTime now = implementation_->now();
    for (const auto& session : implementation_->all()) session->tick(now);
}

}  // namespace svc
