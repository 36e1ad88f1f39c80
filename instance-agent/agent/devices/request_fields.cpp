#include "instance-agent/agent/devices/request_fields.h"

#include <cmath>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

bool inside(double value, Range range) {
    return std::isfinite(value) && value >= range.least && value <= range.most;
}

double number_of(const Json& value, std::string_view name, Range range) {
    if (!value.is_number() || !inside(value.as_double(), range)) throw_invalid_field(name);
    return value.as_double();
}

std::string text_of(const Json& value, std::string_view name) {
    if (!value.is_string()) throw_invalid_field(name);
    return value.as_string();
}

}  // namespace

void throw_missing_field(std::string_view name) {
    throw Error(ErrorCode::invalid_argument, "Missing field " + quoted(name));
}

void throw_invalid_field(std::string_view name) {
    throw Error(ErrorCode::invalid_argument, "Invalid value for field " + quoted(name));
}

const Json* find_field(const Json& object, std::string_view name) {
    const Json* value = object.find(name);
    return value != nullptr && value->is_null() ? nullptr : value;
}

const Json& require_field(const Json& object, std::string_view name) {
    const Json* value = find_field(object, name);
    if (value == nullptr) throw_missing_field(name);
    return *value;
}

double require_number(const Json& object, std::string_view name, Range range) {
    return number_of(require_field(object, name), name, range);
}

std::optional<double> read_number(const Json& object, std::string_view name, Range range) {
    const Json* value = find_field(object, name);
    return value == nullptr ? std::nullopt : std::optional(number_of(*value, name, range));
}

std::optional<std::int64_t> read_integer(const Json& object, std::string_view name, Range range) {
    const Json* value = find_field(object, name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_integer()) throw_invalid_field(name);
    number_of(*value, name, range);
    try {
        return value->as_int();
    } catch (const Error&) {
        throw_invalid_field(name);
    }
}

bool require_boolean(const Json& object, std::string_view name) {
    const Json& value = require_field(object, name);
    if (!value.is_bool()) throw_invalid_field(name);
    return value.as_bool();
}

std::string require_text(const Json& object, std::string_view name) {
    return text_of(require_field(object, name), name);
}

std::optional<std::string> read_text(const Json& object, std::string_view name) {
    const Json* value = find_field(object, name);
    return value == nullptr ? std::nullopt : std::optional(text_of(*value, name));
}

bool read_enable(const Json& body) {
    if (!body.is_object()) throw Error(ErrorCode::invalid_argument, "Request body must be an object");
    return require_boolean(body, "enable");
}

}  // namespace svc::agent
