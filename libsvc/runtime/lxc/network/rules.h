#pragma once
// The network of the containers as nftables text. Pure functions. Each daemon has two tables, named after its
// bridge: `inet` translates node ports and closes the host to guests, `bridge` ties each guest to its
// addresses (guest_rules.h). Node ports are elements of maps, ties of a set.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/lxc/options.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

struct RuleContext {
    std::string table;                    // "svc_svcbr0"
    std::string bridge;                   // "svcbr0"
    std::string network;                  // "192.168.96.0/20"
    std::string gateway;                  // "192.168.100.1", of the bridge
    std::string address;                  // of private services
    std::vector<GuestPorts> guest_ports;  // these as in LxcOptions
    bool isolate = true;
    std::uint64_t bandwidth = 0;
    std::uint32_t connections = 0;
    std::uint16_t first_node_port = 10000, last_node_port = 11000;  // of other machines
};

// A container that has a device on the bridge.
struct ConnectedContainer {
    std::string device;  // the host's end
    std::string address;
    std::vector<PortForward> forwards;
    std::vector<AllowedEndpoint> allowed_endpoints;
};

std::string table_name(std::string_view bridge);
// Replaces both tables, in one transaction.
std::string table_text(const RuleContext& context, const std::vector<ConnectedContainer>& containers);
std::string remove_table_text(const RuleContext& context);
// The addresses that exposed services are forwarded from, in place of those of before: none after
// table_text().
std::string public_addresses_text(const std::string& table, const std::vector<std::string>& addresses);
// One transaction for the tie, all ports and allowed endpoints of a container.
std::string add_text(const RuleContext& context, const ConnectedContainer& container);
std::string remove_text(const RuleContext& context, const ConnectedContainer& container);

}  // namespace svc::lxc
