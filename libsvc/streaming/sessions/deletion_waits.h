#pragma once
// Callers that are told when the sessions they deleted are gone.
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/streaming/sessions/session_records.h"

namespace svc {

// Thread-safe. A caller is called once, by any thread and without a lock: when all of its sessions are gone
// or have failed to go, when its time is over, or when the gateway stops.
class DeletionWaits {
  public:
    DeletionWaits(const SessionRecords& records, Clock& clock, std::stop_token stopping);

    // Throws invalid_argument "Too many requests" when 16 calls of the account wait.
    void check_room(const SessionOwner& owner) const;
    // Waits for `begun.deleted`; `begun.errors` become part of the result.
    void add(const SessionOwner& owner, Duration time, SessionDeletions begun, SessionsDeleted done);
    void tell(const std::string& session);  // its record has changed: calls those who need not wait any more
    void tell_all();  // the same for all sessions: time has passed, or the gateway stops

  private:
    struct Wait {
        SessionOwner owner;
        SteadyTime deadline{};
        SessionsDeleted done;
        std::vector<std::string> begun;
        std::size_t open = 0;                      // number of deletions of `begun` that are not over
        std::vector<SessionDeletionError> errors;  // until now
    };
    using WaitPtr = std::shared_ptr<Wait>;
    struct Waits {
        std::map<std::string, std::vector<WaitPtr>> by_session;
        std::map<SessionOwner, std::size_t> by_owner;
    };

    std::optional<SessionDeletionError> failure_of(const StreamSession& session, SteadyTime deadline) const;
    std::vector<WaitPtr> take_over(const std::string& session, const SessionPtr& record);
    static void answer(const Wait& wait);

    const SessionRecords& records_;
    Clock& clock_;
    const std::stop_token stopping_;
    Guarded<Waits> waits_;
};

}  // namespace svc
