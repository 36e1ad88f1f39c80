#pragma once
// The instances' network of this machine in a cluster: its part, and the way to those of other machines
// (docs/cluster-network.md).
#include <string>
#include <utility>

#include "libsvc/cluster/instance_network.h"
#include "libsvc/store/etcd/cluster.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

// Where other machines reach this one: a host without a port. Throws invalid_argument where the options do
// not say.
std::string machine_address(const Options& options);

// One thread, besides its own. Throws unavailable where etcd cannot be reached.
class MachineNetwork {
  public:
    MachineNetwork(const Options& options, const StateDirectory& state, Clock& clock);
    // Takes this machine's part and sets it in the options, with the parts of the others. Throws as
    // choose_part().
    void settle(LxcSettings& settings);
    // See InstanceNetwork::follow().
    void follow(Membership& membership, NetworkCalls calls) { parts_.follow(membership, std::move(calls)); }

  private:
    const std::string address_;  // where other machines reach this one
    etcd::Cluster cluster_;
    svc::InstanceNetwork parts_;
};

}  // namespace svc::server
