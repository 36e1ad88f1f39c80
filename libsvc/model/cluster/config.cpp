#include "libsvc/model/cluster/config.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_value = 16384;  // bytes of one value

using enum ConfigType;

bool is_integer(std::string_view value) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
    return failure == std::errc() && end == value.data() + value.size();
}

[[noreturn]] void refuse(const ConfigKey& key, std::string_view value, std::string_view rule) {
    const std::string shown = key.type == secret ? "the value" : quoted(value);
    throw_invalid(key.name, shown + " is not " + std::string(rule));
}

void check_type(const ConfigKey& key, std::string_view value) {
    switch (key.type) {
        case boolean:
            if (value != "true" && value != "false") refuse(key, value, "true or false");
            return;
        case number:
            if (!is_integer(value)) refuse(key, value, key.rule);
            return;
        case duration:
            try {
                parse_duration(value);
            } catch (const Error&) {
                refuse(key, value, key.rule);
            }
            return;
        case text:
        case secret:
            return;
    }
}

const ConfigKey* find_key(std::string_view name) {
    const auto schema = config_schema();
    const auto found =
        std::find_if(schema.begin(), schema.end(), [name](const ConfigKey& key) { return key.name == name; });
    return found == schema.end() ? nullptr : &*found;
}

const ConfigKey& known_key(std::string_view name) {
    if (const ConfigKey* const key = find_key(name)) return *key;
    throw std::logic_error("no configuration item " + std::string(name));
}

const ConfigKey& key_of(std::string_view name, ConfigType type) {
    const ConfigKey& key = known_key(name);
    if (key.type != type)
        throw std::logic_error("configuration item " + std::string(name) + " has another type");
    return key;
}

}  // namespace

const ConfigKey& config_key(std::string_view name) {
    if (const ConfigKey* const key = find_key(name)) return *key;
    throw Error(ErrorCode::not_found, "configuration item not found");
}

void check_config_value(const ConfigKey& key, std::string_view value) {
    if (value.empty()) return;
    if (value.size() > max_value)
        throw Error(ErrorCode::invalid_argument, "length of " + std::string(key.name) + " is invalid");
    check_type(key, value);
    if (key.accepts != nullptr && !key.accepts(value)) refuse(key, value, key.rule);
}

std::vector<std::string> split_config_list(std::string_view value) {
    std::vector<std::string> items;
    for (const std::string_view part : split(value, ','))
        if (const std::string_view item = trim(part); !item.empty()) items.emplace_back(item);
    return items;
}

std::string ConfigValues::value_of(const ConfigKey& key) const {
    const auto found = set_.find(key.name);
    return found == set_.end() || found->second.empty() ? std::string(key.default_value) : found->second;
}

std::string ConfigValues::text(std::string_view key) const {
    return value_of(known_key(key));
}

bool ConfigValues::boolean(std::string_view key) const {
    return value_of(key_of(key, ConfigType::boolean)) == "true";
}

std::int64_t ConfigValues::number(std::string_view key) const {
    return std::stoll(value_of(key_of(key, ConfigType::number)));
}

Duration ConfigValues::duration(std::string_view key) const {
    return parse_duration(value_of(key_of(key, ConfigType::duration)));
}

std::vector<std::string> ConfigValues::list(std::string_view key) const {
    return split_config_list(text(key));
}

bool ConfigValues::is_set(std::string_view key) const {
    const auto found = set_.find(known_key(key).name);
    return found != set_.end() && !found->second.empty();
}

Json ConfigValues::shown(const ConfigKey& key) const {
    switch (key.type) {
        case ConfigType::secret:
            return is_set(key.name);
        case ConfigType::boolean:
            if (!key.shown_as_text) return boolean(key.name);
            break;
        case ConfigType::number:
            return number(key.name);
        case ConfigType::text:
        case ConfigType::duration:
            break;
    }
    return value_of(key);
}

Json ConfigValues::to_json() const {
    Json result = Json::object();
    for (const ConfigKey& key : config_schema()) result.set(std::string(key.name), shown(key));
    return result;
}

ConfigPatch ConfigPatch::from_json(const Json& body) {
    const JsonFields fields(body);
    ConfigPatch patch;
    patch.name = fields.require_string("name");
    const Json* const value = fields.raw("value");
    if (value == nullptr) throw Error(ErrorCode::invalid_argument, "value is required");
    if (value->is_array() || value->is_object()) throw_invalid("value", "must be a string");
    patch.value = value->is_string() ? value->as_string() : value->dump();
    return patch;
}

}  // namespace svc
