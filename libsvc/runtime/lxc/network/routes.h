#pragma once
// Routes to the networks of instances on other machines, by rtnetlink. Those of a daemon have a protocol
// number of ours and a metric that follows its bridge: they are recognised after a crash, and no others are
// touched. Any thread; functions throw Error with the reason.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/lxc/network/addresses.h"

namespace svc::lxc {

constexpr unsigned char route_protocol = 115;  // "proto 115" of `ip route`
// An operator's own route to the same network has a lower metric and wins.
std::uint32_t route_metric(std::string_view bridge);

struct PeerRoute {
    std::uint32_t network = 0;  // host byte order, as all here
    unsigned prefix = 0;
    std::uint32_t next_hop = 0;
    int interface = 0;
    bool operator==(const PeerRoute&) const = default;
};
std::vector<PeerRoute> routes_of(std::string_view bridge);
void add_route(std::string_view bridge, const PeerRoute& route);     // one that exists is replaced
void remove_route(std::string_view bridge, const PeerRoute& route);  // absent is fine

// How the kernel would send a packet.
struct Way {
    int interface = 0;
    bool direct = false;  // without a router between
    bool here = false;    // to this machine itself
};
std::optional<Way> way_to(std::uint32_t address);  // nothing: no way

}  // namespace svc::lxc
