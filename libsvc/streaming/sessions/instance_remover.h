#pragma once
// Deletes the instances of sessions that end.
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/streaming/regions/regions.h"
#include "libsvc/streaming/sessions/session_claims.h"
#include "libsvc/streaming/sessions/session_states.h"

namespace svc {

// Thread-safe; the calls block until the instances are gone, and throw what the region answers.
class InstanceRemover {
  public:
    struct Parts {
        SessionClaims& claims;
        SessionStates& states;
        Regions& regions;
        std::stop_token stopping;
    };
    explicit InstanceRemover(Parts parts) : parts_(std::move(parts)) {}

    void remove(
        const std::string& id);  // all instances of a session that is to be deleted; then it is finished
    // Instances that a region launched although it answered the launch with a refusal: their session is in
    // another region.
    void remove_left_behind(const std::string& region, const std::vector<StreamInstance>& found);

  private:
    void remove_at(Management& management, const StreamSession& session);

    const Parts parts_;
};

}  // namespace svc
