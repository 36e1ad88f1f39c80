#pragma once
// Wall-clock time for records, steady time for time-outs, and their text forms. A Clock is handed to whoever
// needs the time, so that tests set it by hand and never sleep.
#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

namespace svc {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::sys_time<Duration>;                                     // UTC; nanoseconds
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;  // for time-outs

// Thread-safe.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Time now() const = 0;
    virtual SteadyTime steady_now() const = 0;
    // Blocks until `duration` has passed (true) or `stop` is requested (false).
    virtual bool wait(std::stop_token stop, Duration duration) = 0;
    // The same until `end`. Time that passes between reading the clock and this call does not prolong the
    // wait.
    virtual bool wait_until(std::stop_token stop, SteadyTime end);
};

class SystemClock final : public Clock {
  public:
    Time now() const override;
    SteadyTime steady_now() const override;
    bool wait(std::stop_token stop, Duration duration) override;
};

// The two forms of a time in the API: RFC 3339 with nanoseconds ("2024-01-02T03:04:05.678901234Z"), and whole
// seconds since 1970.
std::string to_rfc3339(Time time);
Time from_rfc3339(std::string_view text);  // throws invalid_argument
std::int64_t to_unix_seconds(Time time);
Time from_unix_seconds(std::int64_t seconds);

// "90s", "5m", "1h30m", "250ms". Throws invalid_argument for anything else, also for negative values.
Duration parse_duration(std::string_view text);
std::string format_duration(Duration duration);

}  // namespace svc
