#include "libsvc/net/http/request.h"

#include <algorithm>
#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::array<EnumName<Method>, 8> method_names{{{Method::get, "GET"},
                                                        {Method::head, "HEAD"},
                                                        {Method::post, "POST"},
                                                        {Method::put, "PUT"},
                                                        {Method::patch, "PATCH"},
                                                        {Method::delete_, "DELETE"},
                                                        {Method::options, "OPTIONS"},
                                                        {Method::other, "OTHER"}}};

bool has_token(std::string_view list, std::string_view token) {
    for (const auto& part : split(list, ','))
        if (iequals(trim(part), token)) return true;
    return false;
}

}  // namespace

std::string_view to_text(Method method) {
    return enum_text<Method>(method_names, method);
}

Method parse_method(std::string_view text) {
    return enum_value<Method>(method_names, text).value_or(Method::other);
}

void Headers::set(std::string_view name, std::string value) {
    const auto same = [&](const auto& item) { return iequals(item.first, name); };
    const auto first = std::find_if(items_.begin(), items_.end(), same);
    if (first == items_.end()) return add(std::string(name), std::move(value));
    first->second = std::move(value);
    items_.erase(std::remove_if(first + 1, items_.end(), same), items_.end());
}

const std::string* Headers::find(std::string_view name) const {
    for (const auto& [key, value] : items_)
        if (iequals(key, name)) return &value;
    return nullptr;
}

std::string Headers::get(std::string_view name) const {
    const std::string* value = find(name);
    return value != nullptr ? *value : std::string();
}

bool Request::wants_websocket() const {
    return method == Method::get && has_token(headers.get("Upgrade"), "websocket") &&
           has_token(headers.get("Connection"), "upgrade");
}

std::string Request::query_value(std::string_view name) const {
    const auto found = query.find(std::string(name));
    return found != query.end() ? found->second : std::string();
}

}  // namespace svc
