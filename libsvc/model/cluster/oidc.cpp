#include "libsvc/model/cluster/oidc.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/config.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr std::string_view everybody = "*";

// The host of "host:1/path", without brackets.
std::string host_of(std::string_view authority) {
    if (authority.starts_with('[')) return std::string(authority.substr(1, authority.find(']') - 1));
    return to_lower(authority.substr(0, authority.find_first_of(":/?")));
}

bool is_loopback(const std::string& host) {
    const bool is_address = host.find_first_not_of("0123456789.") == std::string::npos;
    return host == "localhost" || host == "::1" || (is_address && host.starts_with("127."));
}

RoleRule parse_rule(const std::string& item) {
    try {
        const auto equals = item.rfind('=');
        const std::string value(trim(item.substr(0, equals)));
        if (equals != std::string::npos && !value.empty())
            return {value, parse_role(trim(std::string_view(item).substr(equals + 1)))};
    } catch (const Error&) {
        // no role: refused as a whole
    }
    throw Error(ErrorCode::invalid_argument,
                quoted(item) + " is no claim value=role with a role of viewer, operator, admin");
}

}  // namespace

bool is_provider_url(std::string_view url) {
    constexpr std::string_view plain = "http://", encrypted = "https://";
    const bool is_plain = url.starts_with(plain);
    if (!is_plain && !url.starts_with(encrypted)) return false;
    if (has_control_characters(url) || url.find_first_of(" #@\\") != std::string_view::npos) return false;
    const std::string host = host_of(url.substr(is_plain ? plain.size() : encrypted.size()));
    return !host.empty() && (!is_plain || is_loopback(host));
}

std::vector<RoleRule> parse_role_rules(std::string_view text) {
    std::vector<RoleRule> rules;
    for (const std::string& item : split_config_list(text)) rules.push_back(parse_rule(item));
    return rules;
}

std::optional<Role> role_of(const std::vector<RoleRule>& rules, const std::vector<std::string>& values) {
    std::optional<Role> greatest;
    for (const RoleRule& rule : rules) {
        const bool matches = rule.value == everybody || std::ranges::count(values, rule.value) > 0;
        if (matches && (!greatest || rule.role > *greatest)) greatest = rule.role;
    }
    return greatest;
}

}  // namespace svc
