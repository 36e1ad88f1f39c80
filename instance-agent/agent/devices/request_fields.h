#pragma once
// Reads members of a request of the control API or the guest interface. All functions throw invalid_argument:
// "Missing field 'x'" when a member is absent or null, "Invalid value for field 'x'" when it has another type
// or is out of range.
#include <limits>
#include <optional>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::agent {

struct Range {
    double least = -std::numeric_limits<double>::max();
    double most = std::numeric_limits<double>::max();
};

[[noreturn]] void throw_missing_field(std::string_view name);
[[noreturn]] void throw_invalid_field(std::string_view name);

const Json* find_field(const Json& object, std::string_view name);  // null pointer: absent or null
const Json& require_field(const Json& object, std::string_view name);

double require_number(const Json& object, std::string_view name, Range range = {});
std::optional<double> read_number(const Json& object, std::string_view name, Range range = {});
std::optional<std::int64_t> read_integer(const Json& object, std::string_view name, Range range = {});
bool require_boolean(const Json& object, std::string_view name);
std::string require_text(const Json& object, std::string_view name);
std::optional<std::string> read_text(const Json& object, std::string_view name);

// The body of a request that switches a device: {"enable": true}.
bool read_enable(const Json& body);

}  // namespace svc::agent
