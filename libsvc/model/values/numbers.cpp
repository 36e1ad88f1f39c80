#include "libsvc/model/values/numbers.h"

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

}  // namespace svc
