#include "libsvc/streaming/sessions/deletion_waits.h"

#include <set>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_waits = 16;  // of one account

}  // namespace

DeletionWaits::DeletionWaits(const SessionRecords& records, Clock& clock, std::stop_token stopping)
    : records_(records), clock_(clock), stopping_(std::move(stopping)) {}

void DeletionWaits::check_room(const SessionOwner& owner) const {
    const bool too_many = waits_.with([&](const Waits& waits) {
        const auto found = waits.by_owner.find(owner);
        return !owner.empty() && found != waits.by_owner.end() && found->second >= max_waits;
    });
    if (too_many) throw Error(ErrorCode::invalid_argument, "Too many requests");
}

void DeletionWaits::add(const SessionOwner& owner, Duration time, SessionDeletions begun,
                        SessionsDeleted done) {
    const auto wait = std::make_shared<Wait>();
    wait->owner = owner;
    wait->deadline = clock_.steady_now() + time;
    wait->done = std::move(done);
    wait->begun = std::move(begun.deleted);
    wait->errors = std::move(begun.errors);
    wait->open = wait->begun.size();
    if (wait->open == 0) return answer(*wait);
    const std::vector<std::string> sessions = wait->begun;
    waits_.with([&](Waits& waits) {
        ++waits.by_owner[wait->owner];
        for (const std::string& id : sessions) waits.by_session[id].push_back(wait);
    });
    for (const std::string& id : sessions) tell(id);  // some may be gone already
}

// Nothing: it may still go in time.
std::optional<SessionDeletionError> DeletionWaits::failure_of(const StreamSession& session,
                                                              SteadyTime deadline) const {
    if (stopping_.stop_requested())
        return SessionDeletionError{session.id, "the gateway is stopping", ErrorCode::unavailable};
    if (session.status == SessionStatus::error)
        return SessionDeletionError{session.id, session.status_message, ErrorCode::internal};
    if (clock_.steady_now() < deadline) return {};
    return SessionDeletionError{session.id, "session " + quoted(session.id) + " was not deleted in time",
                                ErrorCode::internal};
}

void DeletionWaits::tell(const std::string& session) {
    for (const WaitPtr& wait : take_over(session, records_.find(session))) answer(*wait);
}

// Removes and returns the waits for which this session was the last one.
std::vector<DeletionWaits::WaitPtr> DeletionWaits::take_over(const std::string& session,
                                                             const SessionPtr& record) {
    const bool is_gone = !record || record->forgotten || !record->removal_due;
    std::vector<WaitPtr> over;
    waits_.with([&](Waits& waits) {
        const auto found = waits.by_session.find(session);
        if (found == waits.by_session.end()) return;
        std::erase_if(found->second, [&](const WaitPtr& wait) {
            const auto failure = is_gone ? std::nullopt : failure_of(*record, wait->deadline);
            if (!is_gone && !failure) return false;
            if (failure) wait->errors.push_back(*failure);
            if (--wait->open == 0) over.push_back(wait);
            return true;
        });
        if (found->second.empty()) waits.by_session.erase(found);
        for (const WaitPtr& wait : over)
            if (--waits.by_owner[wait->owner] == 0) waits.by_owner.erase(wait->owner);
    });
    return over;
}

// No other thread has the wait any more.
void DeletionWaits::answer(const Wait& wait) {
    SessionDeletions result;
    result.errors = wait.errors;
    std::set<std::string> failed;
    for (const SessionDeletionError& error : wait.errors) failed.insert(error.id);
    for (const std::string& id : wait.begun)
        if (!failed.contains(id)) result.deleted.push_back(id);
    wait.done(result);
}

void DeletionWaits::tell_all() {
    std::vector<std::string> ids;
    waits_.with([&](const Waits& waits) {
        for (const auto& [id, wait] : waits.by_session) ids.push_back(id);
    });
    for (const std::string& id : ids) tell(id);
}

}  // namespace svc
