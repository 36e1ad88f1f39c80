#pragma once
// How long a guest may take from the request of its start until it runs; that of a bootstrap until all of the
// bootstrap is done.
#include "libsvc/base/error.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/services/instances/boot_clock.h"

namespace svc {

// Thread-safe.
class BootLimit {
  public:
    BootLimit(Duration limit, const BootClock& clock) : limit_(limit), clock_(clock) {}
    Duration limit() const { return limit_; }
    // False: its start was requested before the machine was booted, so the time begins anew.
    bool counts(const Instance& instance) const { return clock_.since(instance.start_mark).has_value(); }
    SteadyMark mark() const { return clock_.mark(); }
    Duration spent(const Instance& instance) const {
        return clock_.since(instance.start_mark).value_or(Duration::zero());
    }
    Duration left(const Instance& instance) const {
        return limit_ - spent(instance);
    }  // negative: it is over
    // The error of a launch that exceeded the limit.
    Error late(const Instance& instance) const {
        const bool base = instance.type == InstanceType::base;
        return Error(ErrorCode::internal,
                     (base ? "bootstrap did not finish within " : "instance did not report within ") +
                         format_duration(limit_));
    }

  private:
    Duration limit_;
    const BootClock& clock_;
};

}  // namespace svc
