#include "tests/bench/load/process_time.h"

#include <charconv>
#include <ctime>

namespace svc::bench {

double processor_seconds_of(const std::string& pid) {
    pid_t number = 0;
    std::from_chars(pid.data(), pid.data() + pid.size(), number);
    clockid_t clock{};
    timespec time{};
    if (number == 0 || clock_getcpuclockid(number, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace svc::bench
