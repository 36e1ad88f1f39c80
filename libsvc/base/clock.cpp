#include "libsvc/base/clock.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

using std::chrono::floor;
using std::chrono::seconds;

[[noreturn]] void throw_bad_time(std::string_view text) {
    throw Error(ErrorCode::invalid_argument, "time " + quoted(text) + " is not in RFC 3339 form");
}

[[noreturn]] void throw_bad_duration(std::string_view text) {
    throw Error(ErrorCode::invalid_argument, "duration " + quoted(text) + " is not like 90s, 5m or 1h30m");
}

// Takes exactly `digits` decimal digits off the front.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return std::nullopt;
    int value = 0;
    for (char c : text.substr(0, digits)) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(digits);
    return value;
}

bool take_char(std::string_view& text, std::string_view allowed) {
    if (text.empty() || allowed.find(text[0]) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// ".5" is 500'000'000 ns; more than nine digits are refused.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
    if (!take_char(text, ".")) return 0;
    std::int64_t value = 0;
    int digits = 0;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), ++digits)
        if (digits < 9) value = value * 10 + (text[0] - '0');
    if (digits == 0 || digits > 9) return std::nullopt;
    for (; digits < 9; ++digits) value *= 10;
    return value;
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
    if (take_char(text, "Zz")) return std::chrono::minutes(0);
    if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    const int sign = text[0] == '-' ? -1 : 1;
    text.remove_prefix(1);
    const auto hours = take_digits(text, 2);
    const bool colon = take_char(text, ":");
    const auto minutes = take_digits(text, 2);
    if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    return std::chrono::minutes(sign * (*hours * 60 + *minutes));
}

struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
};
constexpr std::array<Unit, 8> units{{{"ns", 1},
                                     {"us", 1'000},
                                     {"µs", 1'000},
                                     {"ms", 1'000'000},
                                     {"s", 1'000'000'000},
                                     {"m", 60'000'000'000},
                                     {"h", 3'600'000'000'000},
                                     {"d", 86'400'000'000'000}}};

// Takes "1.5h" off the front; nothing if there is no such part or it does not fit.
std::optional<std::int64_t> take_duration_part(std::string_view& text) {
    std::int64_t whole = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, whole);
    if (error != std::errc() || text[0] == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    const auto billionths = take_fraction(text);
    if (!billionths) return std::nullopt;
    const std::string_view name = text.substr(0, text.find_first_of("0123456789."));
    for (const Unit& unit : units) {
        if (unit.name != name) continue;
        text.remove_prefix(name.size());
        std::int64_t value = 0;
        if (__builtin_mul_overflow(whole, unit.nanoseconds, &value)) return std::nullopt;
        const double part = static_cast<double>(*billionths) * static_cast<double>(unit.nanoseconds) / 1e9;
        if (__builtin_add_overflow(value, std::int64_t{std::llround(part)}, &value)) return std::nullopt;
        return value;
    }
    return std::nullopt;
}

// `value` in `unit`, with as many decimals as it takes: 1500 by 1000 is "1.5".
std::string decimal(std::int64_t value, std::int64_t unit) {
    std::string text = std::to_string(value / unit);
    std::string decimals = std::to_string(unit + value % unit).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return decimals.empty() ? text : text + "." + decimals;
}

}  // namespace

bool Clock::wait_until(std::stop_token stop, SteadyTime end) {
    return wait(std::move(stop), std::max(end - steady_now(), Duration::zero()));
}

Time SystemClock::now() const {
    return std::chrono::system_clock::now();
}

SteadyTime SystemClock::steady_now() const {
    return std::chrono::steady_clock::now();
}

bool SystemClock::wait(std::stop_token stop, Duration duration) {
    constexpr Duration longest = std::chrono::hours(24 * 365);  // keeps the deadline from overflowing
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, std::min(duration, longest), [] { return false; });
    return !stop.stop_requested();
}

std::string to_rfc3339(Time time) {
    const auto day = floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss<Duration> clock(time - day);
    std::array<char, 64> buffer{};
    const int size = std::snprintf(
        buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%09ldZ", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
        static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count()), static_cast<long>(clock.subseconds().count()));
    return {buffer.data(), static_cast<std::size_t>(size)};
}

Time from_rfc3339(std::string_view text) {
    std::string_view rest = text;
    const auto year = take_digits(rest, 4);
    const bool dash = take_char(rest, "-");
    const auto month = take_digits(rest, 2);
    const bool dash2 = take_char(rest, "-");
    const auto day = take_digits(rest, 2);
    if (!year || !dash || !month || !dash2 || !day || !take_char(rest, "Tt ")) throw_bad_time(text);
    const auto hour = take_digits(rest, 2);
    const bool colon = take_char(rest, ":");
    const auto minute = take_digits(rest, 2);
    const bool colon2 = take_char(rest, ":");
    const auto second = take_digits(rest, 2);
    if (!hour || !colon || !minute || !colon2 || !second) throw_bad_time(text);
    const auto fraction = take_fraction(rest);
    const auto offset = take_offset(rest);
    const auto date = std::chrono::year(*year) / *month / *day;
    // Outside these years the nanoseconds since 1970 do not fit 64 bits.
    const bool in_range = *year >= 1678 && *year <= 2261 && *hour < 24 && *minute < 60 && *second < 60;
    if (!fraction || !offset || !rest.empty() || !date.ok() || !in_range) throw_bad_time(text);
    const Duration of_day = std::chrono::hours(*hour) + std::chrono::minutes(*minute) + seconds(*second);
    return Time(std::chrono::sys_days(date)) + of_day + Duration(*fraction) - *offset;
}

std::int64_t to_unix_seconds(Time time) {
    return floor<seconds>(time).time_since_epoch().count();
}

Time from_unix_seconds(std::int64_t value) {
    constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 1'000'000'000;
    if (value > limit || value < -limit)
        throw Error(ErrorCode::invalid_argument, "time " + std::to_string(value) + " is out of range");
    return Time(seconds(value));
}

Duration parse_duration(std::string_view text) {
    if (text == "0") return Duration(0);
    std::string_view rest = text;
    std::int64_t total = 0;
    do {
        const auto part = take_duration_part(rest);
        if (!part || __builtin_add_overflow(total, *part, &total)) throw_bad_duration(text);
    } while (!rest.empty());
    return Duration(total);
}

std::string format_duration(Duration duration) {
    std::int64_t left = duration.count();
    if (left < 0)
        return "-" + format_duration(Duration(left == std::numeric_limits<std::int64_t>::min()
                                                  ? std::numeric_limits<std::int64_t>::max()
                                                  : -left));
    if (left == 0) return "0s";
    if (left < 1'000) return std::to_string(left) + "ns";
    if (left < 1'000'000) return decimal(left, 1'000) + "us";
    if (left < 1'000'000'000) return decimal(left, 1'000'000) + "ms";
    std::string text;
    for (const Unit& unit : {Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000}}) {
        if (left >= unit.nanoseconds) text.append(std::to_string(left / unit.nanoseconds)).append(unit.name);
        left %= unit.nanoseconds;
    }
    return left == 0 ? text : text + decimal(left, 1'000'000'000) + "s";
}

}  // namespace svc
