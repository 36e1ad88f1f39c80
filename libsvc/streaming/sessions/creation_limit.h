#pragma once
// How many sessions one account makes in a minute.
#include <deque>
#include <map>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/streaming/sessions/session_requests.h"

namespace svc {

// Thread-safe.
class CreationLimit {
  public:
    CreationLimit(std::size_t per_minute, const Clock& clock) : per_minute_(per_minute), clock_(clock) {}
    // Counts a creation. Throws invalid_argument "Too many requests" beyond the limit; sessions without an
    // account are not limited.
    void admit(const SessionOwner& owner);

  private:
    const std::size_t per_minute_;  // 0: no limit
    const Clock& clock_;
    Guarded<std::map<SessionOwner, std::deque<SteadyTime>>> creations_;  // of the last minute
};

}  // namespace svc
