#pragma once
// Launches the instances of sessions, and finds the instances of launches whose answer was lost.
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/regions/regions.h"
#include "libsvc/streaming/sessions/instance_user_data.h"
#include "libsvc/streaming/sessions/session_claims.h"
#include "libsvc/streaming/sessions/session_records.h"
#include "libsvc/streaming/sessions/session_states.h"
#include "libsvc/streaming/sessions/session_work.h"

namespace svc {

// Throws unavailable when the region does not answer, not_found when it is not configured.
Management& answering(const Regions& regions, const std::string& region);
// The instances that carry the session's tag, the oldest first.
std::vector<StreamInstance> tagged(Management& management, const std::string& session);

// Thread-safe; the calls block. Throws unavailable when the region does not answer: to be called again then.
class SessionInstanceLauncher {
  public:
    struct Parts {
        SessionRecords& records;
        SessionClaims& claims;
        SessionStates& states;
        SessionWork& work;
        Regions& regions;
        const InstanceUserData& user_data;
        Clock& clock;
        std::stop_token stopping;
    };
    explicit SessionInstanceLauncher(Parts parts) : parts_(std::move(parts)) {}

    // Launches unless the session has an instance. `is_fresh`: nobody has tried before; else first looks for
    // an instance with the session's tag.
    void launch(const std::string& id, bool is_fresh);
    // The session has no instance, or another one; deletes all of `found` but the one that it keeps.
    void adopt(const StreamSession& session, const std::vector<StreamInstance>& found);
    // The session's region cannot host it. Moves it to a region that has not refused it if the caller named
    // none; else it fails.
    void move_on(const StreamSession& session, const std::string& reason);

  private:
    void take_instance(const StreamSession& session, const StreamLaunched& launched);
    std::string next_region(const StreamSession& session) const;  // "": there is none

    const Parts parts_;
};

}  // namespace svc
