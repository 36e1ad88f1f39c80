#include "instance-agent/agent/devices/vehicle/config_reader.h"

#include <cmath>

#include "instance-agent/agent/devices/vehicle/property_names.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {

namespace {

constexpr std::size_t max_faults = 200;  // so that a hostile file does not fill the log

// Nothing: no integer, or one above 64 bits.
std::optional<std::int64_t> as_integer(const Json& value) try {
    return value.is_integer() ? std::optional(value.as_int()) : std::nullopt;
} catch (const Error&) {
    return std::nullopt;
}

std::string indexed(std::string_view key, std::size_t index) {
    return std::string(key) + "[" + std::to_string(index) + "]";
}

}  // namespace

ConfigReader::ConfigReader(const Json& object, std::string path, std::vector<std::string>& faults)
    : object_(object), path_(std::move(path)), faults_(faults) {}

std::string ConfigReader::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void ConfigReader::fault(std::string_view key, std::string_view what) const {
    if (faults_.size() < max_faults) faults_.push_back(path_of(key) + " " + std::string(what));
    if (faults_.size() == max_faults) faults_.emplace_back("and more");
}

std::optional<std::int64_t> ConfigReader::integer_of(const Json& value, std::string_view key,
                                                     std::int64_t low, std::int64_t high) const {
    std::optional<std::int64_t> number;
    if (value.is_string()) {
        number = find_constant(value.as_string());
        if (!number) {
            fault(key, "names an unknown constant " + quoted(value.as_string()));
            return std::nullopt;
        }
    } else {
        number = as_integer(value);
    }
    if (!number)
        fault(key, "is not an integer");
    else if (*number < low || *number > high)
        fault(key, "is out of range");
    else
        return number;
    return std::nullopt;
}

std::optional<float> ConfigReader::number_of(const Json& value, std::string_view key) const {
    constexpr double limit = std::numeric_limits<float>::max();
    if (value.is_string()) {
        const auto constant = integer_of(value, key, std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::max());
        return constant ? std::optional(static_cast<float>(*constant)) : std::nullopt;
    }
    if (value.is_number() && std::fabs(value.as_double()) <= limit)
        return static_cast<float>(value.as_double());
    fault(key, value.is_number() ? "is out of range" : "is not a number");
    return std::nullopt;
}

std::optional<std::int64_t> ConfigReader::integer(std::string_view key, std::int64_t low,
                                                  std::int64_t high) const {
    const Json* value = object_.find(key);
    return value != nullptr ? integer_of(*value, key, low, high) : std::nullopt;
}

std::optional<std::int32_t> ConfigReader::int32(std::string_view key) const {
    const auto number =
        integer(key, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

std::optional<float> ConfigReader::number(std::string_view key) const {
    const Json* value = object_.find(key);
    return value != nullptr ? number_of(*value, key) : std::nullopt;
}

std::optional<std::string> ConfigReader::text(std::string_view key) const {
    const Json* value = object_.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_string() && value->as_string().size() <= 32768) return value->as_string();
    fault(key, value->is_string() ? "is too long" : "is not a string");
    return std::nullopt;
}

std::optional<bool> ConfigReader::flag(std::string_view key) const {
    const Json* value = object_.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_bool()) return value->as_bool();
    fault(key, "is not a boolean");
    return std::nullopt;
}

const JsonArray* ConfigReader::array(std::string_view key, std::size_t most) const {
    const Json* value = object_.find(key);
    if (value == nullptr) return nullptr;
    if (value->is_array() && value->as_array().size() <= most) return &value->as_array();
    fault(key, value->is_array() ? "has too many entries" : "is not an array");
    return nullptr;
}

std::vector<float> ConfigReader::numbers(std::string_view key, std::size_t most) const {
    std::vector<float> read;
    const JsonArray* items = array(key, most);
    if (items == nullptr) return read;
    for (std::size_t i = 0; i < items->size(); ++i)
        if (const auto number = number_of((*items)[i], indexed(key, i))) read.push_back(*number);
    return read;
}

std::vector<ConfigReader> ConfigReader::objects(std::string_view key, std::size_t most, bool required) const {
    std::vector<ConfigReader> readers;
    if (required && !has(key)) fault(key, "is missing");
    const JsonArray* items = array(key, most);
    if (items == nullptr) return readers;
    for (std::size_t i = 0; i < items->size(); ++i) {
        if ((*items)[i].is_object())
            readers.emplace_back((*items)[i], path_of(indexed(key, i)), faults_);
        else
            fault(indexed(key, i), "is not an object");
    }
    return readers;
}

std::optional<ConfigReader> ConfigReader::object(std::string_view key) const {
    const Json* value = object_.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_object()) return ConfigReader(*value, path_of(key), faults_);
    fault(key, "is not an object");
    return std::nullopt;
}

}  // namespace svc::agent
