#include "libsvc/model/values/numbers.h"

#include <cmath>
#include <limits>
#include <string>

#include "libsvc/base/error.h"

namespace svc {

std::optional<int> bounded(const JsonFields& fields, std::string_view key, int lowest, int highest) {
    const auto value = fields.integer(key);
    if (!value) return std::nullopt;
    if (*value < lowest || *value > highest)
        throw_invalid(fields.path_of(key),
                      "must be from " + std::to_string(lowest) + " to " + std::to_string(highest));
    return static_cast<int>(*value);
}

std::optional<double> cpus_in(const JsonFields& fields, std::string_view key) {
    const auto value = fields.number(key);
    if (!value) return std::nullopt;
    if (!(*value >= 0.1)) throw_invalid(fields.path_of(key), "must be at least 0.1");
    if (*value > std::numeric_limits<int>::max()) throw_invalid(fields.path_of(key), "is too large");
    return value;
}

Json number_json(double value) {
    const double whole = std::nearbyint(value);
    if (whole != value || std::abs(whole) > std::numeric_limits<int>::max()) return value;
    return static_cast<std::int64_t>(whole);
}

}  // namespace svc
