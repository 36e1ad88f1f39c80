#pragma once
// What becomes of a session when its instance fails, stops or disappears.
#include <map>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/streaming/relay/relay.h"
#include "libsvc/streaming/sessions/session_claims.h"
#include "libsvc/streaming/sessions/session_instance_launcher.h"
#include "libsvc/streaming/sessions/session_states.h"

namespace svc {

// Thread-safe; check() blocks and throws what the region answers.
class InstanceObserver {
  public:
    struct Parts {
        SessionRecords& records;
        SessionClaims& claims;
        SessionStates& states;
        SessionInstanceLauncher& launcher;
        Regions& regions;
        Relay& relay;
        Clock& clock;
    };
    explicit InstanceObserver(Parts parts) : parts_(parts) {}

    void check(const StreamSession& session);         // asks the region for the session's instance
    void note_missing(const StreamSession& session);  // the region has no instance with the session's tag
    void note_running(const StreamSession& session, const StreamInstance& instance);
    // How long the instance of a session that is `created` has been running, as far as this gateway has seen.
    std::optional<Duration> running_for(const StreamSession& session) const;
    void forget_moved();  // sessions that are not `created` any more

  private:
    struct Running {
        std::string instance;
        SteadyTime since{};
    };
    void observe(const StreamSession& session, const std::optional<StreamInstance>& instance);
    void instance_gone(const StreamSession& session);

    const Parts parts_;
    Guarded<std::map<std::string, Running>> running_;  // by session that is `created`
};

}  // namespace svc
