// Deletion as clients ask for it, and the end of sessions.
#include <set>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

using enum SessionStatus;

void SessionService::Implementation::remove(const SessionOwner& owner, std::string_view id, Deletion how) {
    const SteadyTime deadline = clock_.steady_now() + config_.limits.deletion;
    begin_removal(owner, id, how.force);
    if (how.sync && !how.force) await_end(id, deadline);
}

// All are begun before one is waited for.
SessionDeletions SessionService::Implementation::remove_all(const SessionOwner& owner,
                                                            const std::vector<std::string>& ids,
                                                            Deletion how) {
    const SteadyTime deadline = clock_.steady_now() + config_.limits.deletion;
    SessionDeletions result;
    const auto attempt = [&](const std::string& id, auto&& step) {
        try {
            step();
            return true;
        } catch (const Error& e) {
            result.errors.push_back({id, e.what(), e.code()});
            return false;
        }
    };
    std::set<std::string> known;
    std::vector<std::string> begun;
    for (const std::string& id : ids)
        if (known.insert(id).second && attempt(id, [&] { begin_removal(owner, id, how.force); }))
            begun.push_back(id);
    for (const std::string& id : begun)
        if (!how.sync || how.force || attempt(id, [&] { await_end(id, deadline); }))
            result.deleted.push_back(id);
    return result;
}

void SessionService::Implementation::begin_removal(const SessionOwner& owner, std::string_view id,
                                                   bool force) {
    const Ptr session = find_owned(owner, id);
    if (session->status == terminated && !session->removal_due)
        return drop(session->id, "Deleted by request");
    if (force) return forget(session->id);
    terminate(session->id, "Deleted by request");
}

// Nobody sees it any more; its instance is deleted when its region answers.
void SessionService::Implementation::forget(const std::string& id) {
    const std::string reason = "Deleted by force";
    const bool changed = change(id, [&](StreamSession& session) {
        begin_end(session, reason);
        session.changed_at = clock_.now();
        session.removal_due = true;
        return !std::exchange(session.forgotten, true);
    });
    if (!changed) return;
    after_end(id, reason);
    tell_waiting();
}

void SessionService::Implementation::await_end(std::string_view id, SteadyTime deadline) {
    std::unique_lock lock(waiting_);
    for (;;) {
        const Ptr session = records_.find(id);
        if (!session || session->forgotten || !session->removal_due) return;
        if (stopping_) throw Error(ErrorCode::unavailable, "the gateway is stopping");
        if (session->status == error) throw Error(ErrorCode::internal, session->status_message);
        if (clock_.steady_now() >= deadline)
            throw Error(ErrorCode::internal, "session " + quoted(id) + " was not deleted in time");
        ended_.wait(lock);  // also told every second, by tick()
    }
}

void SessionService::Implementation::finish(const std::string& id, const std::string& reason) {
    const Ptr before = records_.find(id);
    if (!before) return;
    if (before->forgotten || before->ephemeral) return drop(id, reason);
    change(id, [&](StreamSession& session) {
        if (session.status == created || session.status == error) set_status(session, terminating, reason);
        if (session.status != terminated) set_status(session, terminated, reason);
        session.client_connected = false;
        session.removal_due = false;
        session.container_id.clear();
        session.worker.clear();
        return true;
    });
    log::info("session terminated", {{"session", id}, {"reason", reason}});
    expect_nobody(id);
    if_known([&] { relay_.close(id, reason); });
    tell_waiting();
}

void SessionService::Implementation::drop(const std::string& id, const std::string& reason) {
    records_.remove(id);
    log::info("session dropped", {{"session", id}, {"reason", reason}});
    expect_nobody(id);
    if_known([&] { relay_.close(id, reason); });
    tell_waiting();
}

void SessionService::Implementation::tell_waiting() {
    { const std::lock_guard lock(waiting_); }  // whoever has just looked is asleep by now
    ended_.notify_all();
}

}  // namespace svc
