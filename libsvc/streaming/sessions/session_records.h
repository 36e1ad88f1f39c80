#pragma once
// The stored sessions, and the index that counts them.
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/store/collection.h"
#include "libsvc/streaming/sessions/session_index.h"
#include "libsvc/streaming/sessions/session_listing.h"
#include "libsvc/streaming/sessions/session_requests.h"

namespace svc {

template <>
struct RecordTraits<StreamSession> {
    static constexpr std::string_view noun = "session";
    static constexpr std::string_view prefix = "stream-sessions/";
    static const std::string& id(const StreamSession& session) { return session.id; }
    static std::string name(const StreamSession&) { return ""; }
    static Json to_store(const StreamSession& session) { return session_to_store(session); }
    static StreamSession from_store(const Json& stored) { return session_from_store(stored); }
};

// Calls `call`; a not_found that it throws is no error: the session has ended meanwhile.
template <class Call>
void ignore_not_found(Call&& call) {
    try {
        call();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
    }
}

// Thread-safe. Every decision about a session is a change of its record, made by compare-and-set: several
// gateways may use the same store.
class SessionRecords {
  public:
    // Pure: may run more than once. Returns false when nothing is to be changed.
    using Change = std::function<bool(StreamSession&)>;

    explicit SessionRecords(Store& store);

    SessionPtr find(std::string_view id) const { return records_.find(id); }  // null when absent
    // Throws invalid_argument for what is no id, not_found also for sessions that `owner` does not see.
    SessionPtr find_owned(const SessionOwner& owner, std::string_view id) const;
    SessionPage list(const SessionOwner& owner, const SessionQuery& query) const;
    std::vector<SessionPtr> all() const { return records_.list(); }
    std::size_t size() const { return records_.size(); }
    const SessionIndex& index() const { return index_; }

    SessionPtr create(const StreamSession& session) { return records_.create(session); }
    bool change(std::string_view id, const Change& change);  // false: the record is gone, or stays as it is
    // The same change of several records, in as few commits as possible. Absent ones are skipped.
    void change_all(std::span<const std::string> ids, const Change& change);
    void remove(const std::string& id) { records_.remove(id); }
    bool remove_unreadable(std::string_view id);  // false: there is no record of it that cannot be read

  private:
    bool try_change_together(std::span<const std::string> ids, const Change& change);

    Store& store_;
    SessionIndex index_;  // declared before `records_`, which calls it
    Collection<StreamSession> records_;
};

}  // namespace svc
