#include "libsvc/streaming/sessions/session_timers.h"

#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

using enum SessionStatus;

namespace {

// A forgotten session does not wait longer for a region that does not answer.
constexpr std::chrono::hours forget_time{7 * 24};
constexpr const char* changed = " changed";  // `changed_at` of the record

std::string minutes_text(std::chrono::minutes minutes) {
    return std::to_string(minutes.count()) + (minutes.count() == 1 ? " minute" : " minutes");
}

// A session in error ends with the reason of its failure.
StreamEnd idle_end(const StreamSession& session) {
    if (session.status == error) return {session.status_message, end_code::expired};
    return {"Idle for " + minutes_text(std::chrono::minutes(session.idle_time_min)), end_code::idle};
}

}  // namespace

void SessionTimers::tick() {
    const std::vector<SessionPtr> sessions = parts_.records.all();
    try {
        renew_claims(sessions);
    } catch (const Error& e) {
        log::warning("claims of sessions not renewed", {{"error", e.what()}});
    }
    for (const SessionPtr& session : sessions) {
        try {
            look_at(*session);
        } catch (const Error& e) {
            log::warning("session not looked after", {{"session", session->id}, {"error", e.what()}});
        }
    }
    ages_.forget_unasked();
}

void SessionTimers::renew_claims(const std::vector<SessionPtr>& sessions) {
    std::vector<std::string> due;
    for (const SessionPtr& session : sessions)
        if (parts_.claims.is_due(*session) && parts_.work.is_running(session->id)) due.push_back(session->id);
    parts_.claims.renew(due);
}

void SessionTimers::look_at(const StreamSession& session) {
    if (session.removal_due) return look_at_ending(session);
    if (session.status != terminated) return look_at_live(session);
    if (session.ephemeral ||
        ages_.since(session.id + changed, session.changed_at) >= parts_.config.limits.keep)
        parts_.states.drop(session.id, "session ended");
}

void SessionTimers::look_at_ending(const StreamSession& session) {
    const Duration since = ages_.since(session.id + changed, session.changed_at);
    if (session.forgotten && since >= forget_time)
        return parts_.states.drop(session.id, session.status_message);
    if (session.status == terminating && !session.forgotten && since >= parts_.config.limits.deletion)
        parts_.states.fail_deletion(session.id);
    parts_.work.schedule_due(session.id);
}

void SessionTimers::look_at_live(const StreamSession& session) {
    if (end_in_time(session) || session.status != created) return;
    if (parts_.relay.is_registered(session.id)) return parts_.states.activate(session.id);
    if (session.container_id.empty() && !parts_.claims.is_others(session))
        parts_.work.schedule_due(session.id);
}

bool SessionTimers::end_in_time(const StreamSession& session) {
    SessionStates& states = parts_.states;
    const std::chrono::minutes idle(session.idle_time_min);
    if (is_ownerless(session)) {
        states.terminate(session.id, {"Account was deleted", end_code::deleted});
    } else if (parts_.clients.has_lost_instance(session)) {
        log::warning("streaming instance does not answer", {{"session", session.id}});
        states.stream_ended(session.id, {"Instance does not answer", end_code::stopped},
                            session.status != error);
    } else if (idle.count() > 0 && !session.client_connected &&
               ages_.since(session.id + " left", session.client_left_at) >= idle) {
        states.terminate(session.id, idle_end(session));
    } else if (const std::string failure = start_failure(session); !failure.empty()) {
        states.fail(session.id, failure);
    } else if (session.status == error &&
               ages_.since(session.id + changed, session.changed_at) >= parts_.config.limits.keep_failed) {
        states.terminate(session.id, {session.status_message, end_code::expired});
    } else {
        return end_overdue(session);
    }
    return true;
}

// Sessions in error stay for a while, so that their reason can be read.
bool SessionTimers::end_overdue(const StreamSession& session) {
    if (session.joinable || session.client_connected || session.status == error) return false;
    const auto is_there = parts_.clients.overdue(session);
    if (!is_there) return false;
    if (*is_there)
        ignore_not_found([&] {
            parts_.relay.fail_client(session.id, {"no answer in time", end_code::expired});
        });
    const char* const reason = *is_there            ? "Client did not answer"
                               : session.had_client ? "Client left"
                                                    : "Client did not connect";
    parts_.states.terminate(session.id, {reason, *is_there ? end_code::expired : end_code::client_left});
    return true;
}

bool SessionTimers::is_ownerless(const StreamSession& session) const {
    const auto& has_owner = parts_.config.has_owner;
    if (!has_owner || session.account.empty()) return false;
    return !session.removal_due && session.status != terminated && !has_owner(session.account);
}

void SessionTimers::end_ownerless() {
    for (const SessionPtr& session : parts_.records.all())
        if (is_ownerless(*session))
            parts_.states.terminate(session->id, {"Account was deleted", end_code::deleted});
}

// A streamer connects when its guest is up.
bool SessionTimers::has_no_streamer(const StreamSession& session) const {
    if (parts_.relay.is_registered(session.id)) return false;
    const auto running = parts_.observer.running_for(session);
    return running && *running >= parts_.config.limits.streamer;
}

// "": it may still start.
std::string SessionTimers::start_failure(const StreamSession& session) {
    if (session.status != created) return "";
    const SessionLimits& limits = parts_.config.limits;
    if (has_no_streamer(session))
        return "no streamer in the instance connected within " + format_duration(limits.streamer);
    if (ages_.since(session.id + " created", session.created_at) < limits.launch) return "";
    return "Container failed to start: " + why_not_started(session);
}

std::string SessionTimers::why_not_started(const StreamSession& session) const {
    if (!parts_.regions.answers(session.region))
        return "region " + quoted(session.region) + " does not answer";
    const std::string limit = format_duration(parts_.config.limits.launch);
    if (session.container_id.empty()) return "it was not launched within " + limit;
    return "it did not connect to the gateway within " + limit;
}

}  // namespace svc
