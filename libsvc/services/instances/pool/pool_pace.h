#pragma once
// How large the pool of an application is to be now, and when its next instance may be launched: follows from
// the launches of the last minutes and from failures. In memory; a restart begins with `min`.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/model/packages/application.h"

namespace svc {

// Launches of an application that has a pool: met by it, or not. Since the service started.
struct PoolCounts {
    std::uint64_t claims = 0;
    std::uint64_t misses = 0;
};

// Thread-safe.
class PoolPace {
  public:
    explicit PoolPace(const Clock& clock) : clock_(clock) {}
    // A claim ends a row of failures.
    void note_launch(const std::string& application, bool claimed);
    // From `min` to `max`: as many as were launched in the last ten minutes; at most `most`.
    int size_now(const std::string& application, const PoolSettings& settings, int most);
    // The next launch waits: ten seconds after the first failure in a row, twice as long after each more, at
    // most ten minutes. Launches that were begun together and fail together count once. Returns that time.
    Duration note_failure(const std::string& application);
    // Its instances made room for something else: no launch for a minute.
    void note_yield(const std::string& application);
    bool may_launch(const std::string& application);
    std::map<std::string, PoolCounts> counts() const;  // by application
    void forget_all_but(const std::function<bool(const std::string& application)>& is_there);

  private:
    struct Pace {
        std::deque<SteadyTime> launches{};  // of the last ten minutes
        int failures = 0;                   // in a row
        SteadyTime wait_until{};
        PoolCounts counts{};
    };
    Duration wait(Pace& pace, Duration time);

    const Clock& clock_;
    mutable std::mutex mutex_;
    std::map<std::string, Pace> paces_;
};

}  // namespace svc
