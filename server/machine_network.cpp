#include "server/machine_network.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/nodes/local_node.h"
#include "server/store_choice.h"

namespace svc::server {

namespace {

std::string host_of(const std::string& address) {
    std::string host = address.substr(0, address.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return host;
}

std::string manager_of(const StateDirectory& state) {
    return std::string(trim(read_file(state.manager_id())));
}

}  // namespace

// Routes need one address of this machine, which others can reach.
std::string machine_address(const Options& options) {
    if (!options.manager_address.empty()) return host_of(options.manager_address);
    const std::string host = host_of(options.manager_listen);
    if (host != "0.0.0.0" && host != "::") return host;
    if (!options.lxc.address.empty()) return options.lxc.address;
    throw Error(ErrorCode::invalid_argument,
                "manager_address is needed: manager_listen names no address of this machine");
}

MachineNetwork::MachineNetwork(const Options& options, const StateDirectory& state, Clock& clock)
    : address_(machine_address(options)),
      cluster_(etcd_connection(options.etcd), clock),
      parts_(cluster_, EtcdOptions().root, manager_of(state),
             options.node_name.empty() ? host_node_name() : options.node_name) {}

void MachineNetwork::settle(LxcSettings& settings) {
    const NetworkPlan plan{settings.cluster_subnet, settings.node_prefix,
                           settings.subnet_given ? settings.subnet : std::string()};
    settings.subnet = parts_.take(plan, address_, settings.bridge);
    settings.peers = parts_.others();
}

}  // namespace svc::server
