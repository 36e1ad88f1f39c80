#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc {

namespace {

// The member that one of the spellings in "a|b" names, with that spelling.
std::pair<std::string_view, const Json*> find_member(const Json& object, std::string_view spellings) {
    for (std::string_view rest = spellings;;) {
        const std::size_t bar = rest.find('|');
        const std::string_view key = rest.substr(0, bar);
        const Json* value = object.find(key);
        if (value != nullptr && !value->is_null()) return {key, value};
        if (bar == std::string_view::npos) return {spellings.substr(0, spellings.find('|')), nullptr};
        rest.remove_prefix(bar + 1);
    }
}

std::string indexed(const std::string& path, std::size_t index) {
    std::string result = path;
    return result.append("[").append(std::to_string(index)).append("]");
}

bool is_int64(const Json& value) {
    try {
        value.as_int();
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void throw_invalid(std::string_view path, std::string_view rule) {
    std::string message = "argument ";
    throw Error(ErrorCode::invalid_argument, message.append(path).append(" is invalid: ").append(rule));
}

JsonFields::JsonFields(const Json& object, std::string path) : object_(&object), path_(std::move(path)) {
    if (object.is_object()) return;
    if (path_.empty()) throw Error(ErrorCode::invalid_argument, "JSON value is not an object");
    throw_invalid(path_, "must be an object");
}

std::string JsonFields::path_of(std::string_view key) const {
    const std::string_view used = find_member(*object_, key).first;
    return path_.empty() ? std::string(used) : path_ + "." + std::string(used);
}

const Json* JsonFields::raw(std::string_view key) const {
    return find_member(*object_, key).second;
}

std::string JsonFields::require_string(std::string_view key) const {
    if (auto value = string(key)) return *std::move(value);
    throw Error(ErrorCode::invalid_argument, path_of(key) + " is required");
}

std::int64_t JsonFields::require_int(std::string_view key) const {
    if (const auto value = integer(key)) return *value;
    throw Error(ErrorCode::invalid_argument, path_of(key) + " is required");
}

std::optional<std::string> JsonFields::string(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) throw_invalid(path_of(key), "must be a string");
    return value->as_string();
}

std::optional<std::int64_t> JsonFields::integer(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    if (!is_int64(*value)) throw_invalid(path_of(key), "must be a 64-bit integer");
    return value->as_int();
}

std::optional<double> JsonFields::number(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) throw_invalid(path_of(key), "must be a number");
    return value->as_double();
}

std::optional<bool> JsonFields::boolean(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_bool()) throw_invalid(path_of(key), "must be true or false");
    return value->as_bool();
}

std::optional<std::vector<std::string>> JsonFields::strings(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array()) throw_invalid(path_of(key), "must be an array of strings");
    std::vector<std::string> result;
    result.reserve(value->as_array().size());
    for (const Json& item : value->as_array()) {
        if (!item.is_string()) throw_invalid(indexed(path_of(key), result.size()), "must be a string");
        result.push_back(item.as_string());
    }
    return result;
}

std::optional<std::map<std::string, std::string>> JsonFields::string_map(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_object()) throw_invalid(path_of(key), "must be an object of strings");
    std::map<std::string, std::string> result;
    for (const auto& [name, item] : value->as_object()) {
        if (!item.is_string()) throw_invalid(path_of(key) + "." + name, "must be a string");
        result.emplace(name, item.as_string());
    }
    return result;
}

std::optional<JsonFields> JsonFields::object(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    return JsonFields(*value, path_of(key));
}

std::optional<std::vector<JsonFields>> JsonFields::objects(std::string_view key) const {
    const Json* value = raw(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array()) throw_invalid(path_of(key), "must be an array of objects");
    std::vector<JsonFields> result;
    result.reserve(value->as_array().size());
    for (const Json& item : value->as_array())
        result.emplace_back(item, indexed(path_of(key), result.size()));
    return result;
}

}  // namespace svc
