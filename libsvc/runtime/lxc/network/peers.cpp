#include "libsvc/runtime/lxc/network/peers.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

std::string interface_name(int index) {
    std::array<char, IF_NAMESIZE> name{};
    return ::if_indextoname(static_cast<unsigned>(index), name.data()) == nullptr ? "" : name.data();
}

// Collects without repetition what the plan tells in order.
struct Draft {
    std::vector<Subnet> taken;
    std::set<std::string> parts, machines, links;
    PeerPlan plan;
};

void add_machine(Draft& draft, const Subnet& own, const std::string& text) {
    const auto address = parse_ipv4(text);
    if (address && !own.contains(*address)) draft.machines.insert(ipv4_text(*address));
}

// The kernel allows quotes in a name; such an interface cannot be named in a rule.
void add_link(Draft& draft, const std::optional<Way>& way) {
    if (!way || way->here) return;
    const std::string name = interface_name(way->interface);
    if (!name.empty() && name.find_first_of("\"\\") == std::string::npos) draft.links.insert(name);
}

std::optional<std::string> conflict_of(const Draft& draft, const Surroundings& here, const Subnet& part) {
    if (part.overlaps(here.own)) return "that of this one";
    for (const InterfaceAddress& other : here.addresses)
        if (part.overlaps(other.subnet)) return "that of network interface " + quoted(other.interface);
    for (const Subnet& other : draft.taken)
        if (part.overlaps(other)) return "that of another one";
    return std::nullopt;
}

void add_ways(Draft& draft, const Surroundings& here, const Subnet& part, const std::string& next_hop) {
    add_link(draft, way_to(part.address));
    const auto hop = parse_ipv4(next_hop);
    const auto way = hop ? way_to(*hop) : std::nullopt;
    if (!here.make_routes || (way && way->here)) return;
    if (!way || !way->direct) {
        draft.plan.refused.push_back(fmt::format(
            "the instances of machine {} need a route of the operator: it is not on a network of this one",
            quoted(next_hop)));
        return;
    }
    add_link(draft, way);
    draft.plan.routes.push_back({part.address & part.mask(), part.prefix, *hop, way->interface});
}

void add_peer(Draft& draft, const Surroundings& here, const PeerNetwork& peer) {
    add_machine(draft, here.own, peer.address);
    for (const std::string& address : peer.addresses) add_machine(draft, here.own, address);
    const Subnet part = parse_subnet(peer.subnet);
    if (const auto conflict = conflict_of(draft, here, part)) {
        draft.plan.refused.push_back(fmt::format("the instances' network {} of machine {} overlaps {}",
                                                 part.network_text(), quoted(peer.address), *conflict));
        return;
    }
    draft.taken.push_back(part);
    draft.parts.insert(part.network_text());
    draft.machines.insert(ipv4_text(part.address));
    add_ways(draft, here, part, peer.address);
}

std::string elements_text(const std::string& table, std::string_view set,
                          const std::vector<std::string>& all) {
    std::string text = fmt::format("flush set inet {} {}\n", table, set);
    if (!all.empty()) text += fmt::format("add element inet {} {} {{ {} }}\n", table, set, join(all, ", "));
    return text;
}

}  // namespace

PeerPlan plan_peers(const Surroundings& here, const std::vector<PeerNetwork>& peers) {
    Draft draft;
    for (const PeerNetwork& peer : peers) try {
            add_peer(draft, here, peer);
        } catch (const Error& e) {
            draft.plan.refused.emplace_back(e.what());
        }
    PeerPlan plan = std::move(draft.plan);
    plan.parts.assign(draft.parts.begin(), draft.parts.end());
    plan.machines.assign(draft.machines.begin(), draft.machines.end());
    for (const std::string& name : draft.links) plan.links.push_back("\"" + name + "\"");
    return plan;
}

std::string peer_sets_text() {
    return "    set parts { type ipv4_addr; flags interval; }\n"
           "    set machines { type ipv4_addr; }\n"
           "    set links { type ifname; }\n";
}

std::string peer_elements_text(const std::string& table, const PeerPlan& plan) {
    return elements_text(table, "parts", plan.parts) + elements_text(table, "machines", plan.machines) +
           elements_text(table, "links", plan.links);
}

}  // namespace svc::lxc
