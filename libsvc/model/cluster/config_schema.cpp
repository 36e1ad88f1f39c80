// The keys of the cluster configuration as data.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/config.h"
#include "libsvc/model/cluster/oidc.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/web_origin.h"

namespace svc {

namespace {

using enum ConfigType;
using Value = std::string_view;

bool one_of(Value value, std::initializer_list<Value> allowed) {
    return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::optional<std::int64_t> integer_of(Value value) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (failure != std::errc() || end != value.data() + value.size()) return std::nullopt;
    return number;
}

template <std::int64_t lowest, std::int64_t highest>
bool between(Value value) {
    const auto number = integer_of(value);
    return number && *number >= lowest && *number <= highest;
}

bool is_url(Value value, std::initializer_list<Value> schemes) {
    if (has_control_characters(value) || value.find(' ') != Value::npos) return false;
    return std::any_of(schemes.begin(), schemes.end(), [value](Value scheme) {
        return value.starts_with(scheme) && value.size() > scheme.size();
    });
}

bool is_web_url(Value value) {
    return is_url(value, {"http://", "https://"});
}

bool is_source_url(Value value) {
    return is_url(value, {"http://", "https://", "file:///"});
}

bool is_registry_url(Value value) {
    return is_url(value, {"https://", "file:///"});
}

bool is_plain_text(Value value) {
    return !has_control_characters(value);
}

bool are_addon_names(Value value) {
    const auto items = split_config_list(value);
    return std::all_of(items.begin(), items.end(), [](const std::string& item) {
        try {
            check_addon_name("addon", item);
            return true;
        } catch (const Error&) {
            return false;
        }
    });
}

bool is_at_least_a_second(Value value) {
    return parse_duration(value) >= std::chrono::seconds(1);
}

bool is_time_of_session(Value value) {
    const Duration time = parse_duration(value);
    return time >= std::chrono::minutes(1) && time <= std::chrono::days(30);
}

bool are_certificates(Value value) {
    return value.find("-----BEGIN CERTIFICATE-----") != Value::npos;
}

// "openid" makes it OpenID Connect.
bool are_scopes(Value value) {
    const auto scopes = split(value, ' ');
    return is_plain_text(value) && std::find(scopes.begin(), scopes.end(), "openid") != scopes.end();
}

bool are_role_rules(Value value) {
    try {
        return !parse_role_rules(value).empty();
    } catch (const Error&) {
        return false;
    }
}

// Where the provider sends browsers back to.
bool is_redirect_url(Value value) {
    return value.starts_with("https://") && value.ends_with("/1.0/oidc/callback") && is_provider_url(value);
}

constexpr Value provider_url_rule = "a URL with https://, or http:// of a loopback address";
constexpr Value web_url_rule = "a URL with http:// or https://";
constexpr Value source_url_rule = "a URL with http://, https:// or file://";
constexpr Value interval_rule = "a duration like 5m, at least 1s";
constexpr Value session_rule = "a duration like 30m, from 1m to 720h";

constexpr std::array<ConfigKey, 42> config_keys{{
    {"application.addons", text, "", "a comma-separated list of addon names", are_addon_names, false,
     "addons of every application, before its own"},
    {"application.auto_publish", boolean, "true", "", nullptr, false,
     "publish a version as soon as it is active"},
    {"application.auto_update", boolean, "true", "", nullptr, false,
     "make a new version when the image or an addon of an application has a newer one"},
    {"application.default_abi", text, "", "one of x86, x86_64, armeabi, armeabi-v7a, arm64-v8a", is_abi,
     false, "ABI of applications that name none; unset: that of the image"},
    {"application.max_pool_size", number, "10", "a number from 0 to 1000", between<0, 1000>, false,
     "how many instances of an application may be prepared for launches; 0: none of any application"},
    {"application.max_published_versions", number, "3", "a number from 1 to 1000", between<1, 1000>, false,
     "how many published versions an application keeps; older unused ones are removed"},
    {"console.gateway_url", text, "", web_origin_rule, is_web_origin, false,
     "stream gateway whose page the console shows in a frame; unset: none"},
    {"container.apt_mirror", text, "", web_url_rule, is_web_url, false,
     "package mirror for security updates; unset: the guest's own"},
    {"container.default_platform", text, "", "one of null, swrast, webrtc",
     [](Value value) {
         return one_of(value, {"null", "swrast", "webrtc"});
     },
     false, "platform of instances that name none; unset: null"},
    {"container.features", text, "", "a comma-separated list", is_plain_text, false,
     "feature flags of every instance"},
    {"container.network_proxy", text, "", web_url_rule, is_web_url, false,
     "proxy for hooks and updates inside instances"},
    {"container.security_updates", boolean, "true", "", nullptr, false,
     "install security updates when an application is bootstrapped"},
    {"core.proxy_http", text, "", web_url_rule, is_web_url, false, "proxy for http requests of the service"},
    {"core.proxy_https", text, "", web_url_rule, is_web_url, false,
     "proxy for https requests of the service"},
    {"core.proxy_ignore_hosts", text, "", "a comma-separated list of hosts", is_plain_text, false,
     "hosts that the service reaches without a proxy"},
    {"core.trust_password", secret, "", "", nullptr, false,
     "password with which untrusted clients may add their certificate; unset: they may not"},
    {"cpu.limit_mode", text, "scheduler", "one of scheduler, pinning",
     [](Value value) {
         return one_of(value, {"scheduler", "pinning"});
     },
     false, "limit instances by CPU time or give them whole cores"},
    {"gpu.allocation_mode", text, "all", "one of one, all",
     [](Value value) {
         return one_of(value, {"one", "all"});
     },
     false, "give an instance one GPU or all of its node"},
    {"gpu.type", text, "none", "one of none, nvidia, intel, amd",
     [](Value value) {
         return one_of(value, {"none", "nvidia", "intel", "amd"});
     },
     false, "GPU type of the nodes"},
    {"images.allow_insecure", boolean, "false", "", nullptr, false,
     "accept an image server without encryption or with an unknown certificate"},
    {"images.auth", secret, "", "user:password or a token without control characters", is_plain_text, false,
     "user:password or token for the image server"},
    {"images.update_interval", duration, "5m", interval_rule, is_at_least_a_second, false,
     "how often the image server is asked"},
    {"images.url", text, "", source_url_rule, is_source_url, false, "image server; unset: none"},
    {"images.version_lockstep", boolean, "true", "", nullptr, true,
     "do not pull images of another minor release than the service's"},
    {"load_balancer.url", text, "", web_url_rule, is_web_url, false,
     "address under which instances reach the service besides its socket; a name is looked up by the service "
     "at launch"},
    {"oidc.ca", text, "", "certificates in PEM", are_certificates, false,
     "authorities that the provider's certificate is checked against; unset: those of the system"},
    {"oidc.client_id", text, "", "text without control characters", is_plain_text, false,
     "name of this service at the OpenID provider"},
    {"oidc.client_secret", secret, "", "text without control characters", is_plain_text, false,
     "secret of this service at the OpenID provider; unset: it is a public client"},
    {"oidc.issuer", text, "", provider_url_rule, is_provider_url, false,
     "OpenID provider at which users of the console log in; unset: none"},
    {"oidc.name_claim", text, "email", "text without control characters", is_plain_text, false,
     "claim with the name of a user; sub where a token lacks it"},
    {"oidc.redirect_url", text, "", "a URL https://.../1.0/oidc/callback", is_redirect_url, false,
     "where the provider sends browsers back to; unset: /1.0/oidc/callback of the host they asked"},
    {"oidc.role_claim", text, "roles", "text without control characters", is_plain_text, false,
     "claim that oidc.roles looks at, as a path with dots: realm_access.roles"},
    {"oidc.roles", text, "", "a comma-separated list of claim value=role, with viewer, operator, admin",
     are_role_rules, false, "roles of users by a value of their role claim; *=viewer is for all users"},
    {"oidc.scopes", text, "openid profile email", "a list with spaces between that has openid", are_scopes,
     false, "what the service asks the OpenID provider for"},
    {"registry.filter", text, "", "a comma-separated list of tags", is_plain_text, false,
     "take only applications with one of these tags from the registry"},
    {"registry.fingerprint", text, "", "a SHA-256 in hexadecimal",
     [](Value value) { return is_sha256_hex(to_lower(value)); }, false,
     "certificate of the registry to accept"},
    {"registry.mode", text, "pull", "one of pull, push, manual",
     [](Value value) {
         return one_of(value, {"pull", "push", "manual"});
     },
     false, "take applications from the registry, publish them there, or only on request"},
    {"registry.update_interval", duration, "1h", interval_rule, is_at_least_a_second, false,
     "how often the registry is asked"},
    {"registry.url", text, "", "a URL with https:// or file://", is_registry_url, false,
     "application registry; unset: none"},
    {"scheduler.strategy", text, "spread", "one of spread, binpack",
     [](Value value) {
         return one_of(value, {"spread", "binpack"});
     },
     false, "place instances on the emptiest node that fits, or on the fullest"},
    {"sessions.idle_timeout", duration, "30m", session_rule, is_time_of_session, false,
     "how long a browser stays logged in without a request"},
    {"sessions.lifetime", duration, "12h", session_rule, is_time_of_session, false,
     "how long a browser stays logged in at most; counts for logins from now on"},
}};

static_assert(std::all_of(config_keys.begin(), config_keys.end(),
                          [](const ConfigKey& key) { return !key.meaning.empty(); }),
              "each key says what it means");

}  // namespace

std::span<const ConfigKey> config_schema() {
    return config_keys;
}

}  // namespace svc
