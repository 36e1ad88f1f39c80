#include "cli/output/values.h"

#include "libsvc/base/strings.h"

namespace svc::cli {

const Json& member(const Json& record, std::string_view path) {
    static const Json null;
    const Json* at = &record;
    for (const auto& name : split(path, '.')) {
        at = at->find(name);
        if (at == nullptr) return null;
    }
    return *at;
}

std::string text_of(const Json& record, std::string_view path) {
    const Json& value = member(record, path);
    if (value.is_null()) return "";
    return value.is_string() ? value.as_string() : value.dump();
}

std::int64_t number_of(const Json& record, std::string_view path) {
    const Json& value = member(record, path);
    return value.is_integer() ? value.as_int() : 0;
}

bool is_true(const Json& record, std::string_view path) {
    return member(record, path) == Json(true);
}

const JsonArray& items_of(const Json& record, std::string_view path) {
    static const JsonArray none;
    const Json& value = member(record, path);
    return value.is_array() ? value.as_array() : none;
}

std::string time_text(std::int64_t unix_seconds) {
    const std::string text = to_rfc3339(from_unix_seconds(unix_seconds));
    return text.substr(0, text.find_first_of(".Z")) + "Z";
}

std::string shown_time(const std::string& rfc3339) {
    const auto point = rfc3339.find('.');
    return point == std::string::npos ? rfc3339 : rfc3339.substr(0, point) + "Z";
}

std::string yes_no(bool value) {
    return value ? "true" : "false";
}

std::string comma_text(const JsonArray& items) {
    std::vector<std::string> texts;
    for (const Json& item : items) texts.push_back(item.is_string() ? item.as_string() : item.dump());
    return join(texts, ",");
}

void copy_members(const Json& from, Json& to, std::initializer_list<std::string_view> names) {
    for (const auto name : names)
        if (const Json* value = from.find(name)) to.set(std::string(name), *value);
}

}  // namespace svc::cli
