#pragma once
// What time does to sessions: limits of launch and deletion, idle sessions, records that are dropped.
#include <string>
#include <vector>

#include "libsvc/base/ages.h"
#include "libsvc/base/clock.h"
#include "libsvc/streaming/sessions/instance_observer.h"
#include "libsvc/streaming/sessions/session_claims.h"
#include "libsvc/streaming/sessions/session_clients.h"
#include "libsvc/streaming/sessions/session_config.h"
#include "libsvc/streaming/sessions/session_states.h"

namespace svc {

// What it looks at belongs to the others. tick() is for one thread at a time.
class SessionTimers {
  public:
    struct Parts {
        SessionRecords& records;
        SessionClaims& claims;
        SessionClients& clients;
        SessionStates& states;
        SessionWork& work;
        InstanceObserver& observer;
        Regions& regions;
        Relay& relay;
        Clock& clock;
        const SessionServiceConfig& config;
    };
    explicit SessionTimers(Parts parts) : parts_(parts), ages_(parts.clock) {}

    void tick();           // renews leases, then looks at every session
    void end_ownerless();  // sessions whose account was deleted

  private:
    void renew_claims(const std::vector<SessionPtr>& sessions);
    void look_at(const StreamSession& session);
    void look_at_ending(const StreamSession& session);
    void look_at_live(const StreamSession& session);
    bool end_in_time(const StreamSession& session);  // true: a limit is over, and what follows has been done
    bool end_overdue(const StreamSession& session);  // the same for a client that did not come, or left
    bool is_ownerless(const StreamSession& session) const;
    bool has_no_streamer(const StreamSession& session) const;
    std::string start_failure(const StreamSession& session);
    std::string why_not_started(const StreamSession& session) const;

    const Parts parts_;
    Ages ages_;  // of tick() alone
};

}  // namespace svc
