#include "libsvc/runtime/lxc/network/rules.h"

#include <fmt/format.h>

#include <array>

#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"
#include "libsvc/runtime/lxc/network/peers.h"

namespace svc::lxc {

namespace {

struct Map {
    std::string_view name, protocol;
    bool tcp, exposed;
};
constexpr std::array<Map, 4> maps = {{{"tcp_private", "tcp", true, false},
                                      {"udp_private", "udp", false, false},
                                      {"tcp_public", "tcp", true, true},
                                      {"udp_public", "udp", false, true}}};

constexpr std::string_view public_set = "public_addresses";

bool belongs(const PortForward& forward, const Map& map) {
    return forward.exposed == map.exposed && (map.tcp ? forward.tcp : forward.udp);
}

std::string elements(const ConnectedContainer& container, const Map& map, bool with_target) {
    std::vector<std::string> items;
    for (const PortForward& forward : container.forwards) {
        if (!belongs(forward, map)) continue;
        for (unsigned i = 0; i < forward.count; ++i)
            items.push_back(with_target ? fmt::format("{} : {} . {}", forward.node_port + i,
                                                      container.address, forward.port + i)
                                        : fmt::format("{}", forward.node_port + i));
    }
    return join(items, ", ");
}

std::string change_text(const RuleContext& context, const ConnectedContainer& container,
                        std::string_view verb, bool with_target) {
    std::string text;
    for (const Map& map : maps)
        if (const std::string items = elements(container, map, with_target); !items.empty())
            text += fmt::format("{} element inet {} {} {{ {} }}\n", verb, context.table, map.name, items);
    return text;
}

std::string destination_rules(const RuleContext& context) {
    std::string rules;
    for (const Map& map : maps) {
        const std::string addresses = map.exposed ? "@" + std::string(public_set) : context.address;
        if (!addresses.empty())
            rules += fmt::format("        ip daddr {} dnat ip to {} dport map @{}\n", addresses, map.protocol,
                                 map.name);
    }
    return rules;
}

}  // namespace

std::string table_name(std::string_view bridge) {
    std::string name = "svc_";
    for (const char c : bridge) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        name += plain ? std::string(1, c) : fmt::format("_{:02x}_", static_cast<unsigned char>(c));
    }
    return name;
}

std::string table_text(const RuleContext& context, const std::vector<ConnectedContainer>& containers) {
    std::string text = remove_table_text(context) + fmt::format("table inet {} {{\n", context.table);
    for (const Map& map : maps)
        text += fmt::format("    map {} {{ type inet_service : ipv4_addr . inet_service; }}\n", map.name);
    text += fmt::format("    set {} {{ type ipv4_addr; }}\n", public_set) + peer_sets_text();
    const std::string destinations = destination_rules(context);
    text += "    chain prerouting {\n        type nat hook prerouting priority dstnat; policy accept;\n" +
            destinations + "    }\n";
    text += "    chain output {\n        type nat hook output priority -100; policy accept;\n" +
            destinations + "    }\n";
    // Instances of other machines see who speaks to them. The second masquerade is for a container that
    // reaches another one through a node port: the answer must come back through this machine to be
    // translated.
    text += fmt::format(
        "    chain postrouting {{\n        type nat hook postrouting priority srcnat; policy accept;\n"
        "        ip saddr {0} ip daddr @parts accept\n"
        "        ip saddr {0} ip daddr != {0} oifname != \"{1}\" masquerade\n"
        "        ip saddr {0} oifname \"{1}\" ct status dnat masquerade\n    }}\n",
        context.network, context.bridge);
    text += closing_text(context) + "}\n" + ties_table_text(context);
    for (const ConnectedContainer& container : containers) text += add_text(context, container);
    return text;
}

std::string public_addresses_text(const std::string& table, const std::vector<std::string>& addresses) {
    return fmt::format("flush set inet {0} {1}\nadd element inet {0} {1} {{ {2} }}\n", table, public_set,
                       join(addresses, ", "));
}

std::string remove_table_text(const RuleContext& context) {
    // `add` first: `delete` fails for a table that does not exist.
    return fmt::format(
        "add table inet {0}\ndelete table inet {0}\nadd table bridge {0}\ndelete table bridge {0}\n",
        context.table);
}

std::string add_text(const RuleContext& context, const ConnectedContainer& container) {
    return tie_text(context, container, "add") + allowed_text(context, container, "add") +
           change_text(context, container, "add", true);
}

std::string remove_text(const RuleContext& context, const ConnectedContainer& container) {
    return tie_text(context, container, "delete") + allowed_text(context, container, "delete") +
           change_text(context, container, "delete", false);
}

}  // namespace svc::lxc
