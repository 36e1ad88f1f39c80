#include "libsvc/runtime/lxc/network/routes.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/network/netlink.h"

namespace svc::lxc {

namespace {

rtmsg route_body(unsigned prefix) {
    rtmsg body{};
    body.rtm_family = AF_INET;
    body.rtm_dst_len = static_cast<unsigned char>(prefix);
    body.rtm_table = RT_TABLE_MAIN;
    body.rtm_protocol = route_protocol;
    body.rtm_scope = RT_SCOPE_UNIVERSE;
    body.rtm_type = RTN_UNICAST;
    body.rtm_flags = RTNH_F_ONLINK;
    return body;
}

rtmsg body_of(const std::string& message) {
    rtmsg body{};
    message.copy(reinterpret_cast<char*>(&body), sizeof body);
    return body;
}

NetlinkRequest change_request(std::uint16_t type, unsigned flags, std::string_view bridge,
                              const PeerRoute& route) {
    NetlinkRequest request(type, NLM_F_ACK | flags, route_body(route.prefix));
    request.add(RTA_DST, htonl(route.network));
    request.add(RTA_GATEWAY, htonl(route.next_hop));
    request.add(RTA_OIF, static_cast<std::uint32_t>(route.interface));
    request.add(RTA_PRIORITY, route_metric(bridge));
    return request;
}

std::string route_text(const PeerRoute& route) {
    return fmt::format("{}/{} by {}", ipv4_text(route.network), route.prefix, ipv4_text(route.next_hop));
}

}  // namespace

// Above what distributions give to the routes of interfaces.
std::uint32_t route_metric(std::string_view bridge) {
    std::uint32_t hash = 0x811c9dc5;  // FNV-1a
    for (const char c : bridge) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
    return (hash & 0x3fffffffU) | 0x40000000U;
}

std::vector<PeerRoute> routes_of(std::string_view bridge) {
    const NetlinkAnswer answer = ask_kernel({RTM_GETROUTE, NLM_F_DUMP, route_body(0)});
    if (answer.error != 0) throw system_error("cannot list the routes", answer.error);
    std::vector<PeerRoute> routes;
    for (const std::string& message : answer.messages) {
        const rtmsg body = body_of(message);
        const auto attributes = attributes_of(message, sizeof body);
        if (body.rtm_family != AF_INET || body.rtm_protocol != route_protocol ||
            body.rtm_table != RT_TABLE_MAIN || number_in(attributes, RTA_PRIORITY) != route_metric(bridge))
            continue;
        routes.push_back({ntohl(number_in(attributes, RTA_DST)), body.rtm_dst_len,
                          ntohl(number_in(attributes, RTA_GATEWAY)),
                          static_cast<int>(number_in(attributes, RTA_OIF))});
    }
    return routes;
}

void add_route(std::string_view bridge, const PeerRoute& route) {
    const int error =
        ask_kernel(change_request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, bridge, route)).error;
    if (error != 0) throw system_error("cannot make the route to " + route_text(route), error);
}

void remove_route(std::string_view bridge, const PeerRoute& route) {
    const int error = ask_kernel(change_request(RTM_DELROUTE, 0, bridge, route)).error;
    if (error != 0 && error != ESRCH)
        throw system_error("cannot remove the route to " + route_text(route), error);
}

std::optional<Way> way_to(std::uint32_t address) {
    rtmsg body{};
    body.rtm_family = AF_INET;
    body.rtm_dst_len = 32;
    NetlinkRequest request(RTM_GETROUTE, NLM_F_ACK, body);
    request.add(RTA_DST, htonl(address));
    const NetlinkAnswer answer = ask_kernel(request);
    if (answer.messages.empty()) return std::nullopt;
    const auto attributes = attributes_of(answer.messages[0], sizeof body);
    const bool by_router = attributes.contains(RTA_GATEWAY) || attributes.contains(RTA_VIA);
    const unsigned char type = body_of(answer.messages[0]).rtm_type;
    if (type != RTN_UNICAST && type != RTN_LOCAL) return std::nullopt;
    return Way{static_cast<int>(number_in(attributes, RTA_OIF)), !by_router, type == RTN_LOCAL};
}

}  // namespace svc::lxc
