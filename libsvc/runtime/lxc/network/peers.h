#pragma once
// The other machines of a cluster, as the instances' network of this one sees them: docs/cluster-network.md.
#include <cstdint>
#include <string>
#include <vector>

#include "libsvc/runtime/lxc/network/addresses.h"
#include "libsvc/runtime/lxc/network/routes.h"
#include "libsvc/runtime/lxc/options.h"

namespace svc::lxc {

// What follows from the peers for rules and routes. Plain value.
struct PeerPlan {
    std::vector<std::string> parts;     // "10.64.4.0/22", of other machines; none overlap
    std::vector<std::string> machines;  // addresses of other machines, those of their bridges among them
    std::vector<std::string> links;     // interfaces, quoted, by which packets of the parts come
    std::vector<PeerRoute> routes;
    std::vector<std::string> refused;  // why a peer is left out, or has no route; for the log
    bool operator==(const PeerPlan&) const = default;
};

// Where the machine is at the moment.
struct Surroundings {
    std::string bridge;
    Subnet own;                               // of the bridge
    std::vector<InterfaceAddress> addresses;  // of the machine
    bool make_routes = true;
};

// Leaves out what would touch the machine's own networks. Asks the kernel for the way to each peer.
PeerPlan plan_peers(const Surroundings& here, const std::vector<PeerNetwork>& peers);

// As nftables text: the sets of the table `inet`, which the rules name; their elements, replacing all.
std::string peer_sets_text();
std::string peer_elements_text(const std::string& table, const PeerPlan& plan);

}  // namespace svc::lxc
