#include "libsvc/streaming/relay_session.h"

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

bool RelayRate::exceeds(std::size_t limit, SteadyTime now) {
    if (now - begin_ >= rate_window) begin_ = now, count_ = 0;
    return ++count_ > limit;
}

RelaySession::RelaySession(std::string id, std::shared_ptr<const RelayContext> context)
    : id_(std::move(id)), context_(std::move(context)) {}

// One thread at a time tells what happened, so that it is told in its order.
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

// A listener's fault is not the peer's whose message it heard of.
void RelaySession::tell(const Event& event) const {
    try {
        if (context_->events != nullptr) event(*context_->events);
    } catch (const std::exception& e) {
        log::error("event of a session was not handled", {{"session", id_}, {"error", e.what()}});
    }
}

// What the owner of the session asks for. It may hold locks of its own, so nothing is told from here.

void RelaySession::expect(RelayClient client) {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    std::erase_if(expected_, [&](const auto& one) { return one.client.id == client.id; });
    if (expected_.size() == max_expected) expected_.erase(expected_.begin());
    expected_.push_back({std::move(client), ""});
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

void RelaySession::fail_client(std::string_view reason) {
    std::lock_guard lock(mutex_);
    for (auto& one : expected_) one.failure = std::string(reason);
    if (client_ && client_->socket) dismiss_client(CloseCode::normal, reason);
}

void RelaySession::end(std::string_view reason) {
    std::lock_guard lock(mutex_);
    if (client_ && client_->socket) dismiss_client(CloseCode::normal, reason);
    if (instance_.socket) {
        instance_.socket->send_text(Json::object({{"type", "ctl:terminate"}, {"reason", reason}}).dump());
        instance_.socket->close(CloseCode::normal, "session ended");
    }
    forget_all();
}

void RelaySession::abandon() {
    std::lock_guard lock(mutex_);
    forget_all();
}

void RelaySession::forget_all() {
    ended_ = true;
    instance_ = {};
    client_.reset();
    expected_.clear();
    waiting_.clear();
    events_.clear();
}

bool RelaySession::is_registered() const {
    std::lock_guard lock(mutex_);
    return instance_.registered;
}

void RelaySession::tick(SteadyTime now) {
    locked([&] {
        if (instance_.socket && now >= instance_.next_ping) ping(now);
    });
}

}  // namespace svc
