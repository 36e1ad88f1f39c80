#include "libsvc/services/instances/launch/allowed_endpoints.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/model/cluster/metrics_server.h"

namespace svc {

namespace {

// A collector takes datagrams and requests on one port.
std::optional<AllowedEndpoint> metrics_server_of(const std::string& text) try {
    if (text.empty()) return std::nullopt;
    const MetricsServer server = MetricsServer::parse("metrics_server", text);
    return AllowedEndpoint{server.host, server.port, true, true};
} catch (const Error&) {
    return std::nullopt;
}

// "wss://192.168.100.1:4000/1.0/sessions/...", "http://user:password@192.168.100.1:3128"
std::optional<AllowedEndpoint> server_of(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::nullopt;
    const std::string_view rest = url.substr(scheme + 3);
    std::string_view authority = rest.substr(0, rest.find('/'));
    if (const std::size_t user = authority.rfind('@'); user != std::string_view::npos)
        authority.remove_prefix(user + 1);
    const std::size_t colon = authority.rfind(':');
    AllowedEndpoint endpoint{std::string(authority.substr(0, colon)), 0, true, false};
    if (colon == std::string_view::npos) {
        endpoint.port = url.starts_with("wss:") || url.starts_with("https:") ? 443 : 80;
        return endpoint;
    }
    const std::string_view port = authority.substr(colon + 1);
    const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (problem != std::errc() || end != port.data() + port.size() || endpoint.port == 0) return std::nullopt;
    return endpoint;
}

// User data may be anything.
std::vector<std::string> gateways_in(const std::string& user_data) try {
    if (user_data.find("control_url") == std::string::npos) return {};
    const Json document = Json::parse(user_data);
    const auto streaming = JsonFields(document).object("streaming");
    if (!streaming) return {};
    auto urls = streaming->strings("other_gateways").value_or(std::vector<std::string>());
    urls.insert(urls.begin(), streaming->string("control_url").value_or(""));
    return urls;
} catch (const Error&) {
    return {};
}

// The session says at which address a name is.
std::optional<AllowedEndpoint> management_of(const std::string& url, const AgentSession& session) {
    auto endpoint = server_of(url);
    if (!endpoint) return endpoint;
    const auto address = session.service_addresses.find(endpoint->address);
    if (address != session.service_addresses.end()) endpoint->address = address->second;
    return endpoint;
}

}  // namespace

std::vector<AllowedEndpoint> allowed_endpoints(const Instance& instance, const AgentSession& session) {
    std::vector<AllowedEndpoint> endpoints;
    const auto add = [&endpoints](const std::optional<AllowedEndpoint>& endpoint) {
        if (endpoint) endpoints.push_back(*endpoint);
    };
    add(metrics_server_of(instance.config->metrics_server));
    for (const std::string& url : gateways_in(instance.user_data)) add(server_of(url));
    for (const std::string& url : session.service_urls) add(management_of(url, session));
    add(server_of(session.network_proxy));
    if (session.security_updates) add(server_of(session.apt_mirror));
    return endpoints;
}

}  // namespace svc
