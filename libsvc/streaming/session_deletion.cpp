// Deletion as clients ask for it, and the end of sessions.
#include <future>
#include <set>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

using enum SessionStatus;

namespace {

constexpr std::size_t max_waits = 16;  // of one account

}  // namespace

void SessionService::Implementation::remove(const SessionOwner& owner, std::string_view id, Deletion how) {
    if (!how.sync || how.force) return begin_removal(owner, id, how.force);
    const SessionDeletions result = remove_all(owner, {std::string(id)}, how);
    if (!result.errors.empty()) throw Error(result.errors.front().code, result.errors.front().message);
}

SessionDeletions SessionService::Implementation::remove_all(const SessionOwner& owner,
                                                            const std::vector<std::string>& ids,
                                                            Deletion how) {
    if (!how.sync || how.force) return begin_removals(owner, ids, how.force);
    std::promise<SessionDeletions> gone;
    remove_later(owner, ids, false, [&gone](const SessionDeletions& result) { gone.set_value(result); });
    return gone.get_future().get();
}

void SessionService::Implementation::remove_later(const SessionOwner& owner,
                                                  const std::vector<std::string>& ids, bool force,
                                                  Deleted done) {
    const bool too_many = waits_.with([&](const Waits& waits) {
        const auto found = waits.by_owner.find(owner);
        return !owner.empty() && found != waits.by_owner.end() && found->second >= max_waits;
    });
    if (too_many) throw Error(ErrorCode::invalid_argument, "Too many requests");
    const auto wait = std::make_shared<Wait>();
    wait->owner = owner;
    wait->deadline = clock_.steady_now() + config_.limits.deletion;
    wait->done = std::move(done);
    SessionDeletions begun = begin_removals(owner, ids, force);
    wait->begun = std::move(begun.deleted);
    wait->result.errors = std::move(begun.errors);
    await_end(wait);
}

SessionDeletions SessionService::Implementation::begin_removals(const SessionOwner& owner,
                                                                const std::vector<std::string>& ids,
                                                                bool force) {
    SessionDeletions result;
    std::set<std::string> known;
    for (const std::string& id : ids) {
        if (!known.insert(id).second) continue;
        try {
            begin_removal(owner, id, force);
            result.deleted.push_back(id);
        } catch (const Error& e) {
            result.errors.push_back({id, e.what(), e.code()});
        }
    }
    return result;
}

void SessionService::Implementation::begin_removal(const SessionOwner& owner, std::string_view id,
                                                   bool force) {
    const Ptr session = find_owned(owner, id);
    if (session->status == terminated && !session->removal_due)
        return drop(session->id, {"Deleted by request", end_code::deleted});
    if (force) return forget(session->id);
    terminate(session->id, {"Deleted by request", end_code::deleted});
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
    after_end(id, {reason, end_code::deleted});
    tell_waiting(id);
}

void SessionService::Implementation::await_end(const WaitPtr& wait) {
    wait->open = wait->begun.size();
    if (wait->open == 0) return wait->done(wait->result);
    waits_.with([&](Waits& waits) {
        ++waits.by_owner[wait->owner];
        for (const std::string& id : wait->begun) waits.by_session[id].push_back(wait);
    });
    for (const std::string& id : std::vector(wait->begun)) tell_waiting(id);  // some may be gone already
}

void SessionService::Implementation::finish(const std::string& id, const StreamEnd& end) {
    const Ptr before = records_.find(id);
    if (!before) return;
    if (before->forgotten || before->ephemeral) return drop(id, end);
    change(id, [&](StreamSession& session) {
        if (session.status == created || session.status == error)
            set_status(session, terminating, end.message);
        if (session.status != terminated) set_status(session, terminated, end.message);
        session.client_connected = false;
        session.removal_due = false;
        session.container_id.clear();
        session.worker.clear();
        return true;
    });
    log::info("session terminated", {{"session", id}, {"reason", end.message}});
    expect_nobody(id);
    if_known([&] { relay_.close(id, end); });
    tell_waiting(id);
}

void SessionService::Implementation::drop(const std::string& id, const StreamEnd& end) {
    records_.remove(id);
    log::info("session dropped", {{"session", id}, {"reason", end.message}});
    expect_nobody(id);
    if_known([&] { relay_.close(id, end); });
    tell_waiting(id);
}

// Nothing: it is on its way.
std::optional<SessionDeletionError> SessionService::Implementation::failure_of(const StreamSession& session,
                                                                               SteadyTime deadline) const {
    if (stopping_) return SessionDeletionError{session.id, "the gateway is stopping", ErrorCode::unavailable};
    if (session.status == error)
        return SessionDeletionError{session.id, session.status_message, ErrorCode::internal};
    if (clock_.steady_now() < deadline) return {};
    return SessionDeletionError{session.id, "session " + quoted(session.id) + " was not deleted in time",
                                ErrorCode::internal};
}

// Those that wait for it, when it is gone or will not go in time. They are called without the lock.
void SessionService::Implementation::tell_waiting(const std::string& id) {
    const Ptr session = records_.find(id);
    const bool is_gone = !session || session->forgotten || !session->removal_due;
    std::vector<WaitPtr> over;
    waits_.with([&](Waits& waits) {
        const auto found = waits.by_session.find(id);
        if (found == waits.by_session.end()) return;
        std::erase_if(found->second, [&](const WaitPtr& wait) {
            const auto failure = is_gone ? std::nullopt : failure_of(*session, wait->deadline);
            if (!is_gone && !failure) return false;
            if (failure) wait->result.errors.push_back(*failure);
            if (--wait->open == 0) over.push_back(wait);
            return true;
        });
        if (found->second.empty()) waits.by_session.erase(found);
        for (const WaitPtr& wait : over)
            if (--waits.by_owner[wait->owner] == 0) waits.by_owner.erase(wait->owner);
    });
    for (const WaitPtr& wait : over) answer(*wait);
}

// Nobody else has it any more.
void SessionService::Implementation::answer(Wait& wait) {
    std::set<std::string> failed;
    for (const SessionDeletionError& error : wait.result.errors) failed.insert(error.id);
    for (const std::string& id : wait.begun)
        if (failed.count(id) == 0) wait.result.deleted.push_back(id);
    wait.done(wait.result);
}

void SessionService::Implementation::tell_all_waiting() {
    std::vector<std::string> ids;
    waits_.with([&](const Waits& waits) {
        for (const auto& [id, wait] : waits.by_session) ids.push_back(id);
    });
    for (const std::string& id : ids) tell_waiting(id);
}

}  // namespace svc
