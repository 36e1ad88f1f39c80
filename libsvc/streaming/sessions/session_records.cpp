#include "libsvc/streaming/sessions/session_records.h"

#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr int attempts_together = 5;

bool sees(const SessionOwner& owner, const StreamSession& session) {
    return !session.forgotten && (owner.empty() || session.account == owner);
}

}  // namespace

SessionRecords::SessionRecords(Store& store)
    : store_(store),
      records_(store, [this](const auto* before, const auto* after) { index_.note(before, after); }) {}

SessionPtr SessionRecords::find_owned(const SessionOwner& owner, std::string_view id) const {
    if (!is_object_id(id))
        throw Error(ErrorCode::invalid_argument, "session id " + quoted(id) + " is invalid");
    SessionPtr session = records_.find(id);
    if (!session && owner.empty()) records_.get(id);  // tells why its record cannot be read
    if (!session || !sees(owner, *session)) throw Error(ErrorCode::not_found, "session not found");
    return session;
}

bool SessionRecords::remove_unreadable(std::string_view id) {
    if (!records_.find_unreadable(id)) return false;
    records_.remove(id);
    return true;
}

SessionPage SessionRecords::list(const SessionOwner& owner, const SessionQuery& query) const {
    std::vector<SessionPtr> sessions = records_.list();
    std::erase_if(sessions, [&](const SessionPtr& session) {
        return !sees(owner, *session) || (query.status && session->status != *query.status);
    });
    return page_of(std::move(sessions), query);
}

bool SessionRecords::change(std::string_view id, const Change& change) {
    bool refused = false;
    try {
        records_.update(id, [&](StreamSession& session) {
            refused = !change(session);
            if (refused) throw Error(ErrorCode::cancelled, "nothing is to be changed");
        });
        return true;
    } catch (const Error& e) {
        if (refused || e.code() == ErrorCode::not_found) return false;
        throw;
    }
}

void SessionRecords::change_all(std::span<const std::string> ids, const Change& change) {
    for (int attempt = 0; attempt < attempts_together; ++attempt)
        if (try_change_together(ids, change)) return;
    for (const std::string& id : ids) this->change(id, change);
}

// False: one of the records was changed meanwhile.
bool SessionRecords::try_change_together(std::span<const std::string> ids, const Change& change) {
    Batch together;
    for (const std::string& id : ids) ignore_not_found([&] { records_.stage_update(together, id, change); });
    try {
        store_.commit(together);
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict) throw;
        return false;
    }
}

}  // namespace svc
