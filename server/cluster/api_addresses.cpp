#include "server/cluster/api_addresses.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc::server {

namespace {

constexpr std::string_view scheme = "https://";

bool is_wildcard(std::string_view host) {
    return host == "0.0.0.0" || host == "::";
}

bool is_loopback(std::string_view host) {
    return host.starts_with("127.") || host == "::1" || host == "localhost";
}

std::string bracketed(const std::string& host) {
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

std::string host_in(std::string_view address) {
    std::string_view host = address.substr(0, address.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return std::string(host);
}

std::string address_for_others(const std::string& listening, const std::string& own) {
    if (!is_wildcard(host_in(listening))) return listening;
    if (own.empty())
        throw Error(ErrorCode::invalid_argument,
                    "manager_address is needed: manager_listen names no address");
    return bracketed(own) + listening.substr(listening.rfind(':'));
}

std::vector<std::string> api_for_others(const std::vector<std::string>& urls, const std::string& own) {
    std::vector<std::string> reachable;
    for (const std::string& url : urls) {
        const std::string address = address_for_others(url.substr(scheme.size()), own);
        if (!is_loopback(host_in(address))) reachable.push_back(std::string(scheme) + address);
    }
    return reachable;
}

std::vector<std::string> api_of_all(const Membership& membership) {
    std::vector<std::string> all;
    for (const Manager& manager : membership.managers())
        std::ranges::copy(manager.api, std::back_inserter(all));
    return all;
}

}  // namespace svc::server
