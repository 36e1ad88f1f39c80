#include "libsvc/runtime/lxc/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/host/kernel_setting.h"
#include "libsvc/runtime/lxc/network/links.h"

namespace svc::lxc {

namespace {

void check_bridge_name(const std::string& name) {
    const bool clean = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (name.empty() || name.size() > 15 || !clean || name == "." || name == "..")
        throw Error(ErrorCode::invalid_argument, fmt::format("bridge name {} is not usable", quoted(name)));
}

void check_subnet_is_free(const std::string& bridge, const Subnet& subnet) {
    for (const InterfaceAddress& other : interface_addresses())
        if (other.interface != bridge && other.subnet.overlaps(subnet))
            throw Error(ErrorCode::conflict,
                        fmt::format("subnet '{}' overlaps that of network interface '{}'",
                                    subnet.network_text(), other.interface));
}

std::string find_address(const Subnet& subnet) {
    const std::string interface = default_interface(read_file("/proc/net/route"));
    for (const InterfaceAddress& candidate : interface_addresses())
        if (candidate.interface == interface) return ipv4_text(candidate.subnet.address);
    return ipv4_text(subnet.address);
}

bool is_local(const std::string& address) {
    const auto addresses = interface_addresses();
    return std::any_of(addresses.begin(), addresses.end(),
                       [&](const InterfaceAddress& a) { return ipv4_text(a.subnet.address) == address; });
}

void check_address(const std::string& address) {
    if (!parse_ipv4(address))
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("address {} is not an IPv4 address", quoted(address)));
}

// Without forwarding, packets from the bridge are dropped. tear_down() leaves it on, as other programs may
// rely on it.
void enable_forwarding() {
    set_kernel_setting("net.ipv4.ip_forward", "1", "networks beyond this machine");
}

}  // namespace

Network::Network(const NetworkOptions& options)
    : subnet_(parse_subnet(options.subnet)),
      makes_routes_(options.cluster.make_routes),
      watch_(table_name(options.bridge), [this] { restore(); }) {
    check_bridge_name(options.bridge);
    check_subnet_is_free(options.bridge, subnet_);
    rules_.table = table_name(options.bridge);
    rules_.bridge = options.bridge;
    rules_.network = subnet_.network_text();
    rules_.gateway = ipv4_text(subnet_.address);
    rules_.guest_ports = options.guest_ports;
    rules_.isolate = options.isolate;
    rules_.bandwidth = options.bandwidth;
    rules_.connections = options.connections;
    rules_.first_node_port = options.cluster.first_node_port;
    rules_.last_node_port = options.cluster.last_node_port;
    tables_.with([&](Tables& tables) { tables.peers = options.cluster.peers; });
    ensure_bridge(options.bridge, subnet_, options.mtu);
    rules_.address = options.address.empty() ? find_address(subnet_) : options.address;
    public_address_ = options.public_address.empty() ? rules_.address : options.public_address;
    check_address(rules_.address);
    check_address(public_address_);
    tables_.with([&](Tables& tables) { tables.forwards_from = public_address_; });
    enable_forwarding();
}

Network::~Network() = default;

void Network::add(const std::string& id, const ConnectedContainer& container) {
    tables_.with([&](Tables& tables) {
        std::string commands;
        if (const auto old = tables.containers.find(id); old != tables.containers.end())
            commands = remove_text(rules_, old->second);
        tables.containers[id] = container;
        change(tables, commands + add_text(rules_, container));
    });
}

void Network::remove(const std::string& id) {
    tables_.with([&](Tables& tables) {
        const auto found = tables.containers.find(id);
        if (found == tables.containers.end()) return;
        const std::string commands = remove_text(rules_, found->second);
        tables.containers.erase(found);
        change(tables, commands);
    });
}

// Where a router translates the public address, packets arrive here for the private one.
std::string Network::public_addresses_of(const Tables& tables) const {
    std::vector<std::string> addresses;
    if (parse_ipv4(tables.forwards_from)) addresses.push_back(tables.forwards_from);
    if (!is_local(tables.forwards_from) && tables.forwards_from != rules_.address)
        addresses.push_back(rules_.address);
    return public_addresses_text(rules_.table, addresses);
}

void Network::forward_from(const std::string& public_address) {
    tables_.with([&](Tables& tables) {
        if (tables.forwards_from == public_address) return;
        const std::string former = std::exchange(tables.forwards_from, public_address);
        if (!tables.listing) return;
        try {
            change(tables, public_addresses_of(tables));
        } catch (const Error&) {
            tables.forwards_from = former;
            throw;
        }
    });
}

std::string Network::forwards_from() const {
    return tables_.with([](const Tables& tables) { return tables.forwards_from; });
}

void Network::replace(Tables& tables) {
    std::vector<ConnectedContainer> list;
    for (const auto& [id, container] : tables.containers) list.push_back(container);
    tables.plan = plan_for(tables);
    nftables_.run(table_text(rules_, list) + public_addresses_of(tables) +
                  peer_elements_text(rules_.table, tables.plan));
    tables.listing = listing();
}

// Where others have removed rules, as a firewall that starts again does, all are made again.
void Network::change(Tables& tables, const std::string& commands) {
    try {
        nftables_.run(commands);
    } catch (const Error& e) {
        log::warning("the network rules are made again", {{"error", e.what()}});
        replace(tables);
    }
}

// Our own replace() removes rules as well: the kernel's numbers tell whether these are still what it made.
void Network::restore() {
    tables_.with([&](Tables& tables) {
        // An empty one was read after somebody had removed the rules again.
        if (!tables.listing || (!tables.listing->empty() && tables.listing == listing())) return;
        log::warning("network rules were removed by another program and are made again",
                     {{"table", rules_.table}});
        replace(tables);
    });
}

void Network::rebuild(std::map<std::string, ConnectedContainer> containers) {
    tables_.with([&](Tables& tables) {
        tables.containers = std::move(containers);
        try {
            replace(tables);
        } catch (const Error& e) {
            if (rules_.connections == 0) throw;
            // Its kernel module may be missing; all the others are needed.
            rules_.connections = 0;
            replace(tables);
            log::warning("the connections of instances are not limited", {{"error", e.what()}});
        }
        drop_routes(tables.plan.routes);  // those of an earlier daemon
        make_routes(tables.plan.routes);
    });
}

PeerPlan Network::plan_for(const Tables& tables) const {
    return plan_peers({rules_.bridge, subnet_, interface_addresses(), makes_routes_}, tables.peers);
}

// Nothing is sent to another machine's instances while no rule knows them.
void Network::set_peers(std::vector<PeerNetwork> peers) {
    tables_.with([&](Tables& tables) {
        tables.peers = std::move(peers);
        if (!tables.listing) return;
        PeerPlan plan = plan_for(tables);
        if (plan.refused != tables.plan.refused)
            for (const std::string& reason : plan.refused) log::warning(reason, {});
        drop_routes(plan.routes);
        if (plan != tables.plan) {
            tables.plan = plan;
            change(tables, peer_elements_text(rules_.table, plan));
        }
        make_routes(plan.routes);
    });
}

void Network::drop_routes(const std::vector<PeerRoute>& wanted) const {
    for (const PeerRoute& route : routes_of(rules_.bridge))
        if (std::ranges::find(wanted, route) == wanted.end()) remove_route(rules_.bridge, route);
}

void Network::make_routes(const std::vector<PeerRoute>& wanted) const {
    const std::vector<PeerRoute> made = routes_of(rules_.bridge);
    for (const PeerRoute& route : wanted) {
        if (std::ranges::find(made, route) != made.end()) continue;
        try {
            add_route(rules_.bridge, route);
        } catch (const Error& e) {
            log::warning("instances of another machine are not reached", {{"error", e.what()}});
        }
    }
}

void Network::tear_down() {
    tables_.with([&](Tables& tables) {
        tables.listing.reset();
        drop_routes({});
        nftables_.run(remove_table_text(rules_));
        tables.containers.clear();
    });
    remove_bridge(rules_.bridge);
}

// Chains and rules with the numbers that the kernel gave them; "" where a table is missing. What containers
// have is left out.
std::string Network::listing() {
    const std::string first = nftables_.list_table("inet", rules_.table);
    const std::string second = first.empty() ? "" : nftables_.list_table("bridge", rules_.table);
    return second.empty() ? "" : first + second;
}

}  // namespace svc::lxc
