#include "server/gateway/settings.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/metrics_server.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/web_origin.h"
#include "libsvc/net/client/target.h"
#include "server/process/setting_values.h"

namespace svc::gateway {

namespace {

using namespace process;
using Key = std::string_view;

struct Member {
    std::string_view name;
    std::function<void(Key path, const Json& value)> read;
};

// Each member of an object by its reader; what goes wrong is told with the member's path.
void read_members(Key key, const Json& value, const std::vector<Member>& known) {
    if (!value.is_object()) throw_invalid(key, "must be a map of keys to values");
    for (const auto& [name, item] : value.as_object()) {
        const std::string path = std::string(key) + "." + name;
        const auto member = std::find_if(known.begin(), known.end(),
                                         [&wanted = name](const Member& m) { return m.name == wanted; });
        if (member == known.end()) throw Fault{path, "unknown key " + quoted(path)};
        if (item.is_null()) continue;
        try {
            member->read(path, item);
        } catch (const Error& e) {
            throw Fault{path, e.what()};
        }
    }
}

std::vector<std::string> read_texts(Key key, const Json& value) {
    std::vector<std::string> texts;
    for (const Json& item : value.is_array() ? value.as_array() : JsonArray{value})
        texts.push_back(read_text(key, item));
    return texts;
}

std::string read_url(Key key, const Json& value, bool remote_only) {
    std::string url = read_text(key, value);
    if (url.empty()) return url;
    const Target target = with_context(key, [&] { return Target::parse(url); });
    if (!target.unix_path.empty() && remote_only) throw_invalid(key, "must begin with https:// or http://");
    if (url.ends_with('/')) url.pop_back();
    return url;
}

// One, or a list: a service with several managers.
std::vector<std::string> read_urls(Key key, const Json& value) {
    std::vector<std::string> urls;
    for (const std::string& text : read_texts(key, value))
        if (std::string url = read_url(key, text, false); !url.empty()) urls.push_back(std::move(url));
    return urls;
}

std::string read_file_name(Key key, const Json& value) {
    std::string path = read_path(key, value);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) throw_invalid(key, quoted(path) + " is no file");
    return path;
}

std::string read_fingerprint(Key key, const Json& value) {
    std::string text = to_lower(read_text(key, value));
    std::erase(text, ':');
    if (!text.empty() && !is_sha256_hex(text)) throw_invalid(key, "must be 64 hexadecimal digits");
    return text;
}

std::string read_region_name(Key key, const Json& value) {
    std::string name = read_text(key, value);
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (name.empty() || name.size() > 63 || !plain)
        throw_invalid(key, "must be 1 to 63 letters, digits, '-', '_' or '.'");
    return name;
}

bool read_bool(Key key, const Json& value) {
    if (value.is_bool()) return value.as_bool();
    return read_one_of(key, value, {"true", "false"}) == "true";
}

void check_region(const std::string& path, const RegionConfig& region) {
    if (region.name.empty()) throw Fault{path, path + ".name is required"};
    if (region.urls.empty()) throw Fault{path, path + ".url is required"};
    const bool is_remote = std::ranges::any_of(
        region.urls, [](const std::string& url) { return Target::parse(url).unix_path.empty(); });
    if (region.certificate.empty() != region.key.empty())
        throw Fault{path, path + ": certificate and key go together"};
    if (is_remote && region.certificate.empty())
        throw Fault{path, path + ".certificate is required: the service knows its clients by certificates"};
}

RegionConfig read_region(const std::string& path, const Json& value) {
    RegionConfig region;
    read_members(path, value,
                 {{"name", [&](Key k, const Json& v) { region.name = read_region_name(k, v); }},
                  {"url", [&](Key k, const Json& v) { region.urls = read_urls(k, v); }},
                  {"certificate", [&](Key k, const Json& v) { region.certificate = read_file_name(k, v); }},
                  {"key", [&](Key k, const Json& v) { region.key = read_file_name(k, v); }},
                  {"server_fingerprint",
                   [&](Key k, const Json& v) { region.server_fingerprint = read_fingerprint(k, v); }},
                  {"metrics_server", [&](Key k, const Json& v) {
                       region.metrics_server = read_text(k, v);
                       MetricsServer::parse(k, region.metrics_server);
                   }}});
    check_region(path, region);
    return region;
}

void apply_regions(Options& options, Key key, const Json& value) {
    if (!value.is_array()) throw_invalid(key, "must be a list");
    options.regions.clear();
    for (const Json& item : value.as_array()) {
        const std::string path = std::string(key) + "[" + std::to_string(options.regions.size()) + "]";
        RegionConfig region = read_region(path, item);
        for (const RegionConfig& other : options.regions)
            if (other.name == region.name)
                throw Fault{path, "region " + quoted(region.name) + " is there twice"};
        options.regions.push_back(std::move(region));
    }
}

void apply_streamer_addons(Options& options, Key key, const Json& value) {
    options.streamer_addons = read_texts(key, value);
    for (const std::string& name : options.streamer_addons) check_addon_name(key, name);
}

void apply_metrics(Options& options, Key key, const Json& value) {
    read_members(key, value,
                 {{"listen", [&](Key k, const Json& v) { options.metrics_listen = read_address(k, v); }},
                  {"user", [&](Key k, const Json& v) { options.metrics_user = read_text(k, v); }},
                  {"password", [&](Key k, const Json& v) { options.metrics_password = read_text(k, v); }}});
    if (options.metrics_user.empty() != options.metrics_password.empty())
        throw Fault{std::string(key), "metrics.user and metrics.password go together"};
    if (options.metrics_user.find(':') != std::string::npos)
        throw Fault{"metrics.user", "argument metrics.user is invalid: must not have a colon"};
}

void apply_stun(Options& options, Key key, const Json& value) {
    read_members(key, value,
                 {{"urls", [&](Key k, const Json& v) { options.ice.stun_urls = read_texts(k, v); }}});
    options.ice.check();
}

void apply_turn(Options& options, Key key, const Json& value) {
    read_members(key, value,
                 {{"urls", [&](Key k, const Json& v) { options.ice.turn_urls = read_texts(k, v); }},
                  {"secret", [&](Key k, const Json& v) { options.ice.turn_secret = read_text(k, v); }},
                  {"ttl", [&](Key k, const Json& v) { options.ice.turn_ttl = read_duration(k, v); }}});
    if (!options.ice.turn_urls.empty() && options.ice.turn_secret.empty())
        throw Fault{std::string(key), "turn.secret is required: it makes the credentials"};
    if (options.ice.turn_ttl < std::chrono::minutes(1))
        throw Fault{"turn.ttl", "argument turn.ttl is invalid: must be a minute or longer"};
    options.ice.check();
}

Duration read_limit(Key key, const Json& value) {
    const Duration duration = read_duration(key, value);
    if (duration < std::chrono::seconds(1)) throw_invalid(key, "must be a second or longer");
    return duration;
}

// Sessions count it in minutes.
Duration read_idle(Key key, const Json& value) {
    const Duration duration = read_duration(key, value);
    if (duration % std::chrono::minutes(1) != Duration(0) || duration > std::chrono::hours(24 * 366))
        throw_invalid(key, "must be whole minutes, a year at most, or 0");
    return duration;
}

void apply_limits(Options& options, Key key, const Json& value) {
    SessionLimits& limits = options.limits;
    read_members(
        key, value,
        {{"launch", [&](Key k, const Json& v) { limits.launch = read_limit(k, v); }},
         {"streamer", [&](Key k, const Json& v) { limits.streamer = read_limit(k, v); }},
         {"deletion", [&](Key k, const Json& v) { limits.deletion = read_limit(k, v); }},
         {"keep", [&](Key k, const Json& v) { limits.keep = read_duration(k, v); }},
         {"keep_failed", [&](Key k, const Json& v) { limits.keep_failed = read_duration(k, v); }},
         {"silent", [&](Key k, const Json& v) { limits.silent = read_limit(k, v); }},
         {"client_token", [&](Key k, const Json& v) { limits.client_token = read_limit(k, v); }},
         {"idle", [&](Key k, const Json& v) { limits.idle = read_idle(k, v); }},
         {"sessions", [&](Key k, const Json& v) { limits.sessions = read_count(k, v, 1, 10'000'000); }},
         {"creations_per_minute",
          [&](Key k, const Json& v) { limits.creations_per_minute = read_count(k, v, 0, 1'000'000); }}});
}

// "https://app.example" without a path, or "*".
std::string read_origin(Key key, const std::string& text) {
    if (text == "*") return text;
    try {
        if (!Target::parse(text).unix_path.empty() || text.ends_with('/'))
            throw Error(ErrorCode::invalid_argument, "no origin");
    } catch (const Error&) {
        throw_invalid(key, quoted(text) + " is neither * nor an origin like https://app.example");
    }
    return text;
}

void apply_cors(Options& options, Key key, const Json& value) {
    read_members(key, value, {{"origins", [&](Key k, const Json& v) {
                                   options.allowed_origins.clear();
                                   for (const std::string& text : read_texts(k, v))
                                       options.allowed_origins.push_back(read_origin(k, text));
                               }}});
}

// Of a flag, with commas between; in the file a list as well.
void apply_frame_ancestors(Options& options, Key key, const Json& value) {
    options.frame_ancestors.clear();
    for (const std::string& text : read_texts(key, value))
        for (const std::string& origin : split(text, ',')) {
            if (!is_web_origin(origin))
                throw_invalid(key, quoted(origin) + " is not " + std::string(web_origin_rule));
            options.frame_ancestors.push_back(origin);
        }
}

constexpr std::array all_settings{
    Setting{"state_dir", "DIR",
            "sessions, accounts, the secret of tokens, the certificate made at first; default "
            "/var/lib/svc-gateway",
            [](Options& o, Key k, const Json& v) { o.state_dir = read_path(k, v); }},
    Setting{"socket", "PATH",
            "local API for accounts, mode 0600: sees everything, asks for no token; default "
            "/run/svc-gateway/unix.socket",
            [](Options& o, Key k, const Json& v) { o.socket = read_path(k, v); }},
    Setting{"listen", "HOST:PORT", "API and page, TLS 1.3; port 0 picks a free one; default [::]:4000",
            [](Options& o, Key k, const Json& v) {
                o.listen = read_address(k, v);
                if (o.listen.empty()) throw_invalid(k, "must be HOST:PORT");
            }},
    Setting{"store", "NAME", "sqlite: of this gateway alone, the default; etcd: of several",
            [](Options& o, Key k, const Json& v) {
                o.store = read_one_of(k, v, {"sqlite", "etcd"});
            }},
    Setting{"etcd_endpoints", "URL[,URL...]", "members of etcd: http://HOST:PORT or https://HOST:PORT",
            [](Options& o, Key k, const Json& v) { o.etcd.endpoints = server::read_etcd_endpoints(k, v); }},
    Setting{"etcd_ca", "FILE", "PEM: who signs the certificates of etcd; default: the system's authorities",
            [](Options& o, Key k, const Json& v) { o.etcd.authorities = read_path(k, v); }},
    Setting{"etcd_cert", "FILE", "PEM: client certificate for etcd",
            [](Options& o, Key k, const Json& v) { o.etcd.certificate = read_path(k, v); }},
    Setting{"etcd_key", "FILE", "PEM: its key",
            [](Options& o, Key k, const Json& v) { o.etcd.key = read_path(k, v); }},
    Setting{"gateway_name", "NAME", "of this gateway among several; default: the host name",
            [](Options& o, Key k, const Json& v) { o.gateway_name = read_node_name(k, v); }},
    Setting{"gateway_listen", "HOST:PORT", "with etcd: TLS, where the other gateways reach this one",
            [](Options& o, Key k, const Json& v) { o.gateway_listen = read_address(k, v); }},
    Setting{"gateway_address", "HOST:PORT", "what the others connect to; default: gateway_listen",
            [](Options& o, Key k, const Json& v) { o.gateway_address = read_address(k, v); }},
    Setting{"new_cluster", "yes|no",
            "yes: use an etcd that is empty or of other gateways than this state directory",
            [](Options& o, Key k, const Json& v) {
                o.etcd.new_cluster = v.is_bool() ? v.as_bool() : read_one_of(k, v, {"yes", "no"}) == "yes";
            }},
    Setting{"metrics_listen", "HOST:PORT",
            "TLS, /internal/1.0/metrics; none switches it off; default 127.0.0.1:9105",
            [](Options& o, Key k, const Json& v) { o.metrics_listen = read_address(k, v); }},
    Setting{"public_url", "URL", "where clients find this gateway; default: as their request's Host says",
            [](Options& o, Key k, const Json& v) { o.public_url = read_url(k, v, true); }},
    Setting{"instance_url", "URL", "where instances find it; default: this machine's first address",
            [](Options& o, Key k, const Json& v) { o.instance_url = read_url(k, v, true); }},
    Setting{"frame_ancestors", "ORIGIN[,ORIGIN...]",
            "pages of these origins may show the gateway's page in a frame; default: none",
            apply_frame_ancestors},
    Setting{"location", "TEXT", "the gateway's name in the tokens it makes; default stream-gateway",
            [](Options& o, Key k, const Json& v) { o.location = read_text(k, v); }},
    Setting{"tls_certificate", "FILE", "PEM; default: made in the state directory",
            [](Options& o, Key k, const Json& v) { o.tls_certificate = read_file_name(k, v); }},
    Setting{"tls_key", "FILE", "PEM, of that certificate",
            [](Options& o, Key k, const Json& v) { o.tls_key = read_file_name(k, v); }},
    Setting{"tls12", "", "TLS 1.2 as well",
            [](Options& o, Key k, const Json& v) { o.tls12 = read_bool(k, v); }, Flag::bare},
    Setting{"log_level", "LEVEL", "debug, info, warning or error; default info",
            [](Options& o, Key k, const Json& v) {
                o.log_level = log::parse_level(read_one_of(k, v, {"debug", "info", "warning", "error"}));
            }},
    Setting{"regions", "", "the management services that run the instances", apply_regions},
    Setting{"streamer_addons", "", "addons that bring a streamer: what has none of them is not streamed",
            apply_streamer_addons},
    Setting{"metrics", "", "who may read the metrics, and where", apply_metrics},
    Setting{"stun", "", "servers that tell clients their address", apply_stun},
    Setting{"turn", "", "relays of media, with the secret they share with the gateway", apply_turn},
    Setting{"limits", "", "of sessions", apply_limits},
    Setting{"cors", "", "pages of other origins that may use the API", apply_cors},
};

}  // namespace

std::span<const Setting> settings() {
    return all_settings;
}

}  // namespace svc::gateway
