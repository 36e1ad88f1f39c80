#include "libsvc/streaming/sessions/session_states.h"

#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/streaming/sessions/session_transitions.h"

namespace svc {

using enum SessionStatus;

void SessionStates::activate(const std::string& id) {
    if (const SessionPtr before = parts_.records.find(id); before && before->status != active)
        parts_.clients.give_time(id);
    const Time now = parts_.clock.now();
    const bool moved = parts_.records.change(id, [&](StreamSession& session) {
        if (session.removal_due || !may_move(session.status, active)) return false;
        if (session.status == created) session.client_left_at = now;  // nobody could come before
        set_status(session, active, "", now);
        return true;
    });
    if (!moved) return;
    log::info("session active", {{"session", id}});
    if (const SessionPtr session = parts_.records.find(id); session && session->container_id.empty())
        parts_.work.schedule(id);
}

void SessionStates::fail(const std::string& id, const std::string& given) {
    const std::string reason = fit_reason(given);
    const bool moved = parts_.records.change(id, [&](StreamSession& session) {
        if (session.removal_due || !may_move(session.status, error)) return false;
        set_status(session, error, reason, parts_.clock.now());
        return true;
    });
    if (moved) note_failure(id, reason);
}

void SessionStates::note_failure(const std::string& id, const std::string& reason) {
    log::warning("session failed", {{"session", id}, {"reason", reason}});
    ignore_not_found([&] { parts_.relay.fail_client(id, {reason, end_code::failed}); });
}

// The stream has ended with the instance.
void SessionStates::fail_instance(const StreamSession& seen, const std::string& given, bool gone) {
    const std::string reason = fit_reason(given);
    bool outdated = false, fails = false;
    const bool changed = parts_.records.change(seen.id, [&](StreamSession& session) {
        outdated = has_moved(seen, session);
        fails = !outdated && !session.removal_due && may_move(session.status, error);
        if (outdated || (!session.client_connected && !gone && !fails)) return false;
        if (session.client_connected) session.client_left_at = parts_.clock.now();
        session.client_connected = false;
        if (gone) session.container_id.clear();
        if (fails) set_status(session, error, reason, parts_.clock.now());
        return true;
    });
    if (changed && fails) note_failure(seen.id, reason);
    if (outdated) parts_.work.schedule(seen.id);
}

void SessionStates::fail_deletion(const std::string& id) {
    const std::string reason = "Container was not deleted in time";
    parts_.records.change(id, [&](StreamSession& record) {
        if (record.status != terminating || record.forgotten || !record.removal_due) return false;
        set_status(record, error, reason, parts_.clock.now());
        return true;
    });
    log::warning("session failed", {{"session", id}, {"reason", reason}});
}

void SessionStates::stream_began(const std::string& id, const std::string& encoder) {
    const bool changed = parts_.records.change(id, [&](StreamSession& session) {
        if (session.client_connected || session.removal_due || session.status == terminated) return false;
        session.client_connected = session.had_client = true;
        session.video_encoder = encoder;
        return true;
    });
    if (changed) parts_.clients.forget(id);
}

void SessionStates::stream_ended(const std::string& id, const StreamEnd& end, bool may_end) {
    bool ends = false;
    const bool changed = parts_.records.change(id, [&](StreamSession& session) {
        if (!session.client_connected || session.removal_due || session.status == terminated) return false;
        session.client_connected = false;
        session.client_left_at = parts_.clock.now();
        ends = may_end && !session.joinable && begin_end(session, end.message, parts_.clock.now());
        return true;
    });
    if (changed && ends) after_end(id, end);
}

void SessionStates::terminate(const std::string& id, const StreamEnd& end) {
    const bool begun = parts_.records.change(
        id, [&](StreamSession& session) { return begin_end(session, end.message, parts_.clock.now()); });
    if (begun) after_end(id, end);
}

void SessionStates::stop(const StreamSession& seen) {
    const std::string reason = "Container stopped";
    bool outdated = false;  // it may have been started since
    const bool moved = parts_.records.change(seen.id, [&](StreamSession& record) {
        outdated = has_moved(seen, record);
        if (outdated || record.removal_due || record.status != active) return false;
        set_status(record, terminated, reason, parts_.clock.now());
        record.client_connected = false;
        record.removal_due = true;
        return true;
    });
    if (moved) after_end(seen.id, {reason, end_code::stopped});
    if (outdated) parts_.work.schedule(seen.id);
}

void SessionStates::delete_again(const std::string& id) {
    const bool changed = parts_.records.change(id, [](StreamSession& record) {
        return record.status == terminated && !std::exchange(record.removal_due, true);
    });
    if (changed) parts_.work.schedule(id);
}

void SessionStates::forget(const std::string& id) {
    const std::string reason = "Deleted by force";
    const bool changed = parts_.records.change(id, [&](StreamSession& session) {
        const Time now = parts_.clock.now();
        begin_end(session, reason, now);
        session.changed_at = now;
        session.removal_due = true;
        return !std::exchange(session.forgotten, true);
    });
    if (!changed) return;
    after_end(id, {reason, end_code::deleted});
    parts_.waits.tell(id);
}

void SessionStates::after_end(const std::string& id, const StreamEnd& end) {
    log::info("session ends", {{"session", id}, {"reason", end.message}});
    close(id, end);
    parts_.work.schedule(id);
}

void SessionStates::close(const std::string& id, const StreamEnd& end) {
    parts_.clients.forget(id);
    ignore_not_found([&] { parts_.relay.close(id, end); });
}

void SessionStates::finish(const std::string& id, const StreamEnd& end) {
    const SessionPtr before = parts_.records.find(id);
    if (!before) return;
    if (before->forgotten || before->ephemeral) return drop(id, end);
    parts_.records.change(id, [&](StreamSession& session) {
        const Time now = parts_.clock.now();
        if (session.status == created || session.status == error)
            set_status(session, terminating, end.message, now);
        if (session.status != terminated) set_status(session, terminated, end.message, now);
        session.client_connected = false;
        session.removal_due = false;
        session.container_id.clear();
        session.worker.clear();
        return true;
    });
    log::info("session terminated", {{"session", id}, {"reason", end.message}});
    close(id, end);
    parts_.waits.tell(id);
}

void SessionStates::drop(const std::string& id, const StreamEnd& end) {
    parts_.records.remove(id);
    log::info("session dropped", {{"session", id}, {"reason", end.message}});
    close(id, end);
    parts_.waits.tell(id);
}

}  // namespace svc
