#pragma once
// The part of the instances' network that each machine of a cluster has. Pure functions.
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/runtime/lxc/network/addresses.h"
#include "libsvc/runtime/lxc/options.h"

namespace svc {

// How the parts are cut.
struct NetworkPlan {
    std::string cluster_subnet = "10.64.0.0/12";
    unsigned node_prefix = 22;
    std::string fixed;  // "10.1.0.1/24": this machine's part, whatever the others are; empty: the first free
};

// What a manager tells the others: {"subnet", "address", "addresses"}.
Json part_to_json(const PeerNetwork& part);
PeerNetwork part_from_json(const Json& json);  // throws invalid_argument

// The address and prefix of a bridge: `former` where there is one and nothing is fixed, else the first part
// of the cluster's network that overlaps none of `others` and none of `local`. Throws conflict when the fixed
// one overlaps one of `others`, exhausted when none is free, invalid_argument for a plan that cannot be.
std::string choose_part(const NetworkPlan& plan, const std::string& former,
                        const std::vector<lxc::Subnet>& others, const std::vector<lxc::Subnet>& local);

}  // namespace svc
