#pragma once
// The clock of the event times that guests get.
#include <time.h>

#include <cstdint>

namespace svc::agent {

// Nanoseconds since the machine was booted, suspended time included (CLOCK_BOOTTIME).
inline std::int64_t boot_time() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace svc::agent
