#include "libsvc/services/instances/boot_clock.h"

#include <algorithm>

#include "libsvc/base/file.h"

namespace svc {

BootClock::BootClock(const Clock& clock, const std::string& boot)
    : clock_(clock), boot_(boot.empty() ? read_file("/proc/sys/kernel/random/boot_id", 64) : boot) {}

std::optional<Duration> BootClock::since(const SteadyMark& mark) const {
    if (mark.boot != boot_) return std::nullopt;
    return std::max(clock_.steady_now() - mark.at, Duration::zero());
}

}  // namespace svc
