#include "libsvc/model/instances/lifetime.h"

#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr Duration shortest_life = std::chrono::seconds(1);
constexpr Duration shortest_idle = std::chrono::minutes(1);  // the gateway reports uses three times as often
constexpr Duration longest = std::chrono::hours(10 * 365 * 24);

Duration parsed(const std::string& path, const std::string& text) {
    try {
        return parse_duration(text);
    } catch (const Error&) {
        throw_invalid(path, quoted(text) + " is neither a duration (90s, 2h, 1h30m) nor never");
    }
}

std::optional<Duration> limit_in(const JsonFields& fields, std::string_view key, Duration shortest) {
    const auto text = fields.string(key);
    if (!text) return std::nullopt;
    if (*text == "never") return Duration::zero();
    const Duration limit = parsed(fields.path_of(key), *text);
    if (limit < shortest || limit > longest)
        throw_invalid(fields.path_of(key),
                      "must be from " + format_duration(shortest) + " to " + format_duration(longest));
    return limit;
}

}  // namespace

LifetimeWish LifetimeWish::from_json(const JsonFields& fields) {
    return {limit_in(fields, "expires_after", shortest_life), limit_in(fields, "idle_after", shortest_idle)};
}

Lifetime LifetimeWish::applied_to(Lifetime lifetime, Time now) const {
    if (expires_after)
        lifetime.expires_at = *expires_after == Duration::zero() ? Time{} : now + *expires_after;
    if (idle_after) {
        lifetime.idle_after = *idle_after;
        lifetime.used_at = *idle_after == Duration::zero() ? Time{} : now;
    }
    return lifetime;
}

UseReport UseReport::from_json(const Json& body) {
    const auto ids = JsonFields(body).strings("instances");
    if (!ids) throw Error(ErrorCode::invalid_argument, "instances is required");
    check_list_size("instances", ids->size());
    return {*ids};
}

}  // namespace svc
