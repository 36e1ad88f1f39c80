#include "server/pacer.h"

#include <algorithm>

namespace svc::server {

namespace {

constexpr Duration burst = std::chrono::seconds(1);

}  // namespace

Pacer::Pacer(const Clock& clock, std::size_t per_second)
    : clock_(clock),
      interval_(per_second == 0 ? Duration::zero() : burst / static_cast<Duration::rep>(per_second)) {}

Duration Pacer::delay() {
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady_now();
    free_at_ = std::max(free_at_, now) + interval_;
    return std::max(free_at_ - now - burst, Duration::zero());
}

}  // namespace svc::server
