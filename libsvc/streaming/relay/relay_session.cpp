#include "libsvc/streaming/relay/relay_session.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_expected = 16;  // clients that were let in and never came
constexpr std::chrono::minutes rate_window{1};

}  // namespace

void dismiss(WebSocket& socket, CloseCode code, const StreamEnd& end) {
    socket.send_text(end.error().dump());
    socket.close(code, end.message);
}

bool RelayRate::exceeds(std::size_t limit, SteadyTime now) {
    if (now - begin_ >= rate_window) begin_ = now, count_ = 0;
    return ++count_ > limit;
}

RelaySession::RelaySession(std::string id, std::shared_ptr<const RelayContext> context)
    : id_(std::move(id)), context_(std::move(context)) {}

// One thread at a time delivers, so that events arrive in their order.
void RelaySession::deliver_events(std::unique_lock<std::mutex>& lock) {
    if (delivering_) return;
    delivering_ = true;
    while (!events_.empty()) {
        const auto events = std::exchange(events_, {});
        lock.unlock();
        for (const Event& event : events) tell(event);
        lock.lock();
    }
    delivering_ = false;
}

// What a listener throws must not end the connection of the peer that caused the event.
void RelaySession::tell(const Event& event) const {
    try {
        if (context_->events != nullptr) event(*context_->events);
    } catch (const std::exception& e) {
        log::error("event of a session was not handled", {{"session", id_}, {"error", e.what()}});
    }
}

// The calls of the session's owner. It may hold locks of its own, so they deliver no events.

void RelaySession::expect(RelayClient client) {
    std::lock_guard lock(mutex_);
    if (end_) return;
    std::erase_if(expected_, [&](const auto& one) { return one.client.id == client.id; });
    if (expected_.size() == max_expected) expected_.erase(expected_.begin());
    if (media_expected_.size() == max_expected) media_expected_.erase(media_expected_.begin());
    media_expected_.push_back(client);
    expected_.push_back({std::move(client), std::nullopt});
}

RelayAdmission RelaySession::admit(const std::string& client) {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(expected_.begin(), expected_.end(),
                                    [&](const auto& one) { return one.client.id == client; });
    if (found == expected_.end()) throw Error(ErrorCode::forbidden, "token was used already");
    RelayAdmission admission = std::move(*found);
    expected_.erase(found);
    if (expected_.empty()) expected_.shrink_to_fit();
    return admission;
}

RelayClient RelaySession::admit_media(const std::string& client) {
    std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(media_expected_, client, &RelayClient::id);
    if (found == media_expected_.end()) throw Error(ErrorCode::forbidden, "token was used already");
    if (!instance_.registered || !instance_.takes_media)
        throw Error(ErrorCode::unavailable, "the instance sends no media through the gateway");
    RelayClient admitted = std::move(*found);
    media_expected_.erase(found);
    return admitted;
}

void RelaySession::tell_of_media(const RelayClient& client) {
    locked([&] {
        to_instance(Json::object({{"type", "ctl:media-joined"},
                                  {"client_id", client.id},
                                  {"role", client.watches ? "watch" : "control"}})
                        .dump());
    });
}

void RelaySession::fail_client(const StreamEnd& end) {
    std::lock_guard lock(mutex_);
    for (auto& one : expected_) one.failure = end;
    if (client_ && client_->socket) dismiss_client(CloseCode::normal, end);
    dismiss_watchers(CloseCode::normal, end);
}

void RelaySession::end(const StreamEnd& end) {
    std::lock_guard lock(mutex_);
    if (end_) return;
    if (client_ && client_->socket) dismiss_client(CloseCode::normal, end);
    dismiss_watchers(CloseCode::normal, end);
    if (instance_.socket) {
        const Json message =
            Json::object({{"type", "ctl:terminate"}, {"reason", end.message}, {"code", end.code}});
        instance_.socket->send_text(message.dump());
        instance_.socket->close(CloseCode::normal, "session ended");
    }
    forget_all(end);
}

// That the client leaves is no news for the instance: its media goes on.
void RelaySession::stop() {
    std::lock_guard lock(mutex_);
    if (end_) return;
    const StreamEnd end("the gateway is stopping", end_code::gateway_stopping);
    if (client_ && client_->socket) dismiss(*client_->socket, CloseCode::going_away, end);
    dismiss_watchers(CloseCode::going_away, end);
    forget_all(end);
}

void RelaySession::abandon() {
    std::lock_guard lock(mutex_);
    forget_all({"the gateway is stopping", end_code::gateway_stopping});
}

void RelaySession::forget_all(const StreamEnd& end) {
    if (!end_) end_ = end;
    instance_ = {};
    client_.reset();
    watchers_.clear();
    media_expected_.clear();
    expected_.clear();
    waiting_.clear();
    events_.clear();
}

bool RelaySession::is_registered() const {
    std::lock_guard lock(mutex_);
    return instance_.registered;
}

bool RelaySession::is_watchable() const {
    std::lock_guard lock(mutex_);
    return instance_.registered && instance_.watchable;
}

void RelaySession::tick(SteadyTime now) {
    locked([&] {
        if (instance_.socket && now >= instance_.next_ping) ping(now);
    });
}

}  // namespace svc
