#pragma once
#include "libsvc/base/clock.h"

namespace svc::test {

// Time passes as fast as it is asked for. One thread.
class HastyClock final : public Clock {
  public:
    Time now() const override { return Time(passed); }
    SteadyTime steady_now() const override { return SteadyTime(passed); }
    bool wait(std::stop_token stop, Duration duration) override {
        passed += duration;
        ++waits;
        return !stop.stop_requested();
    }
    Duration passed{0};
    int waits = 0;
};

}  // namespace svc::test
