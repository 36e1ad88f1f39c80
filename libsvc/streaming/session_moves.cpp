// How sessions move from state to state, and what follows.
#include <functional>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

using enum SessionStatus;

namespace {

constexpr std::size_t max_reason = 1024;     // bytes
constexpr std::size_t max_late_events = 64;  // of one session

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Of those the kinds of space become one; 0: any other character.
char in_place_of(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= '\t' && byte <= '\r' ? ' ' : byte < 0x20 || byte == 0x7F ? '\0' : c;
}

}  // namespace

std::string fit_reason(const std::string& reason) {
    std::string text;
    for (std::size_t i = 0; i < reason.size() && text.size() <= max_reason; ++i) {
        const bool is_c1 = reason[i] == '\xC2' && i + 1 < reason.size() && is_continuation(reason[i + 1]) &&
                           reason[i + 1] < '\xA0';
        if (is_c1)
            ++i;
        else if (const char c = in_place_of(reason[i]))
            text += c;
    }
    if (text.size() <= max_reason) return text.empty() ? "Container failed" : text;
    std::size_t end = max_reason;
    while (end > 0 && is_continuation(text[end])) --end;
    text.resize(end);
    return text;
}

void SessionService::Implementation::hand_over(const std::string& id, Event event) {
    ThreadPool& thread = *events_[std::hash<std::string>()(id) % events_.size()];
    if (!thread.post([this, id, event = std::move(event)] { apply(id, event); }) && !stopping_)
        log::error("event of a session dropped", {{"session", id}});
}

// Behind those that wait, or at once.
void SessionService::Implementation::apply(const std::string& id, const Event& event) {
    const bool is_late = late_events_.with([&](const auto& late) { return late.contains(id); });
    if (!is_late && applied(id, event)) return;
    late_events_.with([&](auto& late) {
        auto& events = late[id];
        if (events.size() == max_late_events) events.pop_front();  // the last ones say how it is
        events.push_back(event);
    });
}

// False: it is worth another try.
bool SessionService::Implementation::applied(const std::string& id, const Event& event) const {
    try {
        event();
        return true;
    } catch (const Error& e) {
        log::warning("event of a session failed", {{"session", id}, {"error", e.what()}});
        return e.code() != ErrorCode::unavailable && e.code() != ErrorCode::exhausted;
    }
}

void SessionService::Implementation::apply_late(const std::string& id) {
    const auto first = [&](const auto& late) {
        const auto found = late.find(id);
        return found == late.end() ? Event() : found->second.front();
    };
    while (const Event event = late_events_.with(first)) {
        if (!applied(id, event)) return;
        late_events_.with([&](auto& late) {
            auto& events = late[id];
            events.pop_front();
            if (events.empty()) late.erase(id);
        });
    }
}

void SessionService::Implementation::retry_events() {
    std::vector<std::string> sessions;
    late_events_.with([&](const auto& late) {
        for (const auto& [id, events] : late) sessions.push_back(id);
    });
    for (const std::string& id : sessions) {
        ThreadPool& thread = *events_[std::hash<std::string>()(id) % events_.size()];
        if (!thread.post([this, id] { apply_late(id); })) return;  // the next tick comes
    }
}

bool SessionService::Implementation::change(std::string_view id, const Change& how) {
    bool refused = false;
    try {
        records_.update(id, [&](StreamSession& session) {
            refused = !how(session);
            if (refused) throw Error(ErrorCode::cancelled, "nothing is to be changed");
        });
        return true;
    } catch (const Error& e) {
        if (refused || e.code() == ErrorCode::not_found) return false;
        throw;
    }
}

void SessionService::Implementation::set_status(StreamSession& session, SessionStatus status,
                                                const std::string& reason) const {
    if (!may_move(session.status, status))
        throw Error(ErrorCode::internal, "session " + quoted(session.id) + " cannot move from " +
                                             std::string(to_text(session.status)) + " to " +
                                             std::string(to_text(status)));
    session.status = status;
    session.status_message = reason;
    session.changed_at = clock_.now();
}

// It can be answered from now on.
void SessionService::Implementation::give_client_time(const std::string& id) {
    const Time until = clock_.now() + config_.limits.client_token;
    expected_.with([&](auto& clients) {
        const auto found = clients.find(id);
        if (found != clients.end() && found->second.is_there) found->second.until = until;
    });
}

// The instance registered, or says that it runs again.
void SessionService::Implementation::activate(const std::string& id) {
    if (const Ptr before = records_.find(id); before && before->status != active) give_client_time(id);
    const bool moved = change(id, [&](StreamSession& session) {
        if (session.removal_due || !may_move(session.status, active)) return false;
        if (session.status == created) session.client_left_at = clock_.now();  // nobody could come before
        set_status(session, active, "");
        return true;
    });
    if (!moved) return;
    log::info("session active", {{"session", id}});
    if (const Ptr session = records_.find(id); session && session->container_id.empty()) schedule(id);
}

void SessionService::Implementation::fail(const std::string& id, const std::string& given) {
    const std::string reason = fit_reason(given);
    const bool moved = change(id, [&](StreamSession& session) {
        if (session.removal_due || !may_move(session.status, error)) return false;
        set_status(session, error, reason);
        return true;
    });
    if (moved) note_failure(id, reason);
}

void SessionService::Implementation::note_failure(const std::string& id, const std::string& reason) {
    log::warning("session failed", {{"session", id}, {"reason", reason}});
    if_known([&] { relay_.fail_client(id, {reason, end_code::failed}); });
}

bool SessionService::Implementation::has_moved(const StreamSession& seen, const StreamSession& now) {
    return now.status != seen.status || now.container_id != seen.container_id;
}

// What it sent has ended with it. Nothing follows from what was seen before the session moved: the instance
// may have said otherwise since, and is looked at again.
void SessionService::Implementation::fail_instance(const StreamSession& seen, const std::string& given,
                                                   bool gone) {
    const std::string reason = fit_reason(given);
    bool outdated = false, fails = false;
    const bool changed = change(seen.id, [&](StreamSession& session) {
        outdated = has_moved(seen, session);
        fails = !outdated && !session.removal_due && may_move(session.status, error);
        if (outdated || (!session.client_connected && !gone && !fails)) return false;
        if (session.client_connected) session.client_left_at = clock_.now();
        session.client_connected = false;
        if (gone) session.container_id.clear();
        if (fails) set_status(session, error, reason);
        return true;
    });
    if (changed && fails) note_failure(seen.id, reason);
    if (outdated) schedule(seen.id);
}

void SessionService::Implementation::stream_began(const std::string& id) {
    const bool changed = change(id, [&](StreamSession& session) {
        if (session.client_connected || session.removal_due || session.status == terminated) return false;
        session.client_connected = session.had_client = true;
        return true;
    });
    if (changed) expect_nobody(id);
}

void SessionService::Implementation::stream_ended(const std::string& id, const StreamEnd& end, bool may_end) {
    bool ends = false;
    const bool changed = change(id, [&](StreamSession& session) {
        if (!session.client_connected || session.removal_due || session.status == terminated) return false;
        session.client_connected = false;
        session.client_left_at = clock_.now();
        ends = may_end && !session.joinable && begin_end(session, end.message);
        return true;
    });
    if (changed && ends) after_end(id, end);
}

// False: it ends already.
bool SessionService::Implementation::begin_end(StreamSession& session, const std::string& reason) const {
    if (session.forgotten || !may_move(session.status, terminating)) return false;
    set_status(session, terminating, reason);
    session.client_connected = false;
    session.removal_due = true;
    return true;
}

void SessionService::Implementation::terminate(const std::string& id, const StreamEnd& end) {
    if (change(id, [&](StreamSession& session) { return begin_end(session, end.message); }))
        after_end(id, end);
}

void SessionService::Implementation::after_end(const std::string& id, const StreamEnd& end) {
    log::info("session ends", {{"session", id}, {"reason", end.message}});
    expect_nobody(id);
    if_known([&] { relay_.close(id, end); });
    schedule(id);
}

}  // namespace svc
