#pragma once
// How many requests this process has served, and how many of them in vain.
#include "libsvc/base/metrics.h"

namespace svc::server {

struct RequestTotals {
    std::uint64_t served = 0;
    std::uint64_t refused = 0;  // of them, with a status of 4xx
    std::uint64_t failed = 0;   // of them, with a status of 5xx, or cut off before the reply
};

// Thread-safe. From the start of the process on.
class RequestCounts {
  public:
    void served(int status) noexcept {
        served_.add();
        if (status >= 400 && status < 500) refused_.add();
        if (status >= 500 || status == 0) failed_.add();
    }
    RequestTotals totals() const noexcept { return {served_.value(), refused_.value(), failed_.value()}; }

  private:
    Counter served_, refused_, failed_;
};

}  // namespace svc::server
