#include "libsvc/streaming/sessions/session_events.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::size_t event_threads = 4;
constexpr std::size_t max_queued_events = 1'000'000;
constexpr std::size_t max_late_events = 64;  // of one session

// False: it is worth another try.
bool try_apply(const std::string& session, const SessionEvents::Event& event) {
    try {
        event();
        return true;
    } catch (const Error& e) {
        log::warning("event of a session failed", {{"session", session}, {"error", e.what()}});
        return e.code() != ErrorCode::unavailable && e.code() != ErrorCode::exhausted;
    }
}

}  // namespace

SessionEvents::SessionEvents(std::stop_token stopping) : stopping_(std::move(stopping)) {
    for (std::size_t i = 0; i < event_threads; ++i)
        threads_.push_back(std::make_unique<ThreadPool>("session-events", 1, max_queued_events));
}

ThreadPool& SessionEvents::thread_of(const std::string& session) {
    return *threads_[std::hash<std::string>()(session) % threads_.size()];
}

void SessionEvents::hand_over(const std::string& session, Event event) {
    const bool posted =
        thread_of(session).post([this, session, event = std::move(event)] { apply(session, event); });
    if (!posted && !stopping_.stop_requested())
        log::error("event of a session dropped", {{"session", session}});
}

// At once, unless earlier events of the session wait for a retry.
void SessionEvents::apply(const std::string& session, const Event& event) {
    const bool is_late = late_.with([&](const auto& late) { return late.contains(session); });
    if (!is_late && try_apply(session, event)) return;
    late_.with([&](auto& late) {
        auto& events = late[session];
        if (events.size() == max_late_events) events.pop_front();  // the last ones say how it is
        events.push_back(event);
    });
}

void SessionEvents::apply_late(const std::string& session) {
    const auto first = [&](const auto& late) {
        const auto found = late.find(session);
        return found == late.end() ? Event() : found->second.front();
    };
    while (const Event event = late_.with(first)) {
        if (!try_apply(session, event)) return;
        late_.with([&](auto& late) {
            auto& events = late[session];
            events.pop_front();
            if (events.empty()) late.erase(session);
        });
    }
}

void SessionEvents::retry() {
    std::vector<std::string> sessions;
    late_.with([&](const auto& late) {
        for (const auto& [session, events] : late) sessions.push_back(session);
    });
    for (const std::string& session : sessions)
        if (!thread_of(session).post([this, session] { apply_late(session); }))
            return;  // until the next retry
}

void SessionEvents::stop() {
    for (const auto& thread : threads_) thread->stop();
}

}  // namespace svc
