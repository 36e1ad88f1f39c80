#include "libsvc/model/cluster/metrics_server.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::string_view scheme = "influxdb:";
constexpr std::string_view raw_flag = ",raw";
constexpr std::size_t max_host = 253;

bool is_name(std::string_view host) {
    const bool plain = std::all_of(host.begin(), host.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
    });
    return !host.empty() && host.size() <= max_host && plain && host.front() != '-' && host.front() != '.';
}

bool is_ipv6(std::string_view host) {
    in6_addr address{};
    return inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1;
}

bool parse_port(std::string_view text, std::uint16_t& port) {
    const char* const end = text.data() + text.size();
    const auto [after, problem] = std::from_chars(text.data(), end, port);
    return !text.empty() && problem == std::errc() && after == end && port > 0;
}

bool parse_host(std::string_view text, std::string& host) {
    const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
    host = bracketed ? text.substr(1, text.size() - 2) : text;
    return host.find('\0') == std::string::npos && (bracketed ? is_ipv6(host) : is_name(host));
}

}  // namespace

MetricsServer MetricsServer::parse(std::string_view field, std::string_view text) {
    MetricsServer server;
    std::string_view rest = text;
    if (rest.ends_with(raw_flag)) {
        server.raw = true;
        rest.remove_suffix(raw_flag.size());
    }
    // "influxdb:8086" is a host of that name with its port, not the prefix.
    if (rest.starts_with(scheme) && rest.find(':', scheme.size()) != std::string_view::npos)
        rest.remove_prefix(scheme.size());
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos || !parse_host(rest.substr(0, colon), server.host) ||
        !parse_port(rest.substr(colon + 1), server.port))
        throw_invalid(field, quoted(text) + " is not of the form [influxdb:]HOST:PORT[,raw]");
    return server;
}

}  // namespace svc
