#pragma once
// Numbers in requests.
#include <optional>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

// Nothing when the field is absent; throws invalid_argument naming it when it is out of [lowest, highest].
std::optional<int> bounded(const JsonFields& fields, std::string_view key, int lowest, int highest);

// CPU cores of an instance, at least a tenth; the same where it is out of range.
std::optional<double> cpus_in(const JsonFields& fields, std::string_view key);
Json number_json(double value);  // 2 and not 2.0

}  // namespace svc
