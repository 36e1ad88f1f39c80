#pragma once
// How long a guest may take from the request of its start until it runs; that of a bootstrap until all of the
// bootstrap is done.
#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/model/instances/instance.h"

namespace svc {

// Thread-safe.
class BootLimit {
  public:
    BootLimit(Duration limit, const Clock& clock) : limit_(limit), clock_(clock) {}
    Duration limit() const { return limit_; }
    Duration left(const Instance& instance) const {  // negative when it is over
        return instance.start_requested_at + limit_ - clock_.now();
    }
    // The error of a launch that exceeded the limit.
    Error late(const Instance& instance) const {
        const bool base = instance.type == InstanceType::base;
        return Error(ErrorCode::internal,
                     (base ? "bootstrap did not finish within " : "instance did not report within ") +
                         format_duration(limit_));
    }

  private:
    Duration limit_;
    const Clock& clock_;
};

}  // namespace svc
