#pragma once
// Spreads requests out when more come than the service wants to take in a second: they are delayed, not
// refused.
#include <mutex>

#include "libsvc/base/clock.h"

namespace svc::server {

// Thread-safe. A second's worth of requests may come at once.
class Pacer {
  public:
    Pacer(const Clock& clock, std::size_t per_second);  // 0: as many as come
    Duration delay();                                   // what the next request has to wait; 0 mostly

  private:
    const Clock& clock_;
    const Duration interval_;
    std::mutex mutex_;
    SteadyTime free_at_{};  // when all that was let in has had its interval
};

}  // namespace svc::server
