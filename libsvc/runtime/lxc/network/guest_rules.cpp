#include "libsvc/runtime/lxc/network/guest_rules.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/network/addresses.h"

namespace svc::lxc {

namespace {

// Before the bridge code hands packets to other tables, which may translate them.
constexpr std::string_view first = "priority -300; policy accept;";

// The bucket of the kernel holds a second's worth and this; a packet that is not cut yet has up to 64 KiB.
std::string limit_rule(const RuleContext& context, std::string_view set, std::string_view device) {
    if (context.bandwidth == 0) return "";
    return fmt::format("        update @{} {{ {} limit rate over {} bytes/second burst 65536 bytes }} drop\n",
                       set, device, context.bandwidth / 8);
}

std::string limit_set(const RuleContext& context, std::string_view set) {
    if (context.bandwidth == 0) return "";
    return fmt::format("    set {} {{ type ifname; size 65535; flags dynamic,timeout; timeout 1m; }}\n", set);
}

// A tag before the protocol makes it another type: neither IPv4 nor ARP.
constexpr std::string_view from_guest_chain =
    "    chain from_guest {\n"
    "        ether type ip iifname . ether saddr . ip saddr @guests goto sent_packet\n"
    "        ether type arp arp htype 1 arp ptype ip arp hlen 6 arp plen 4 "
    "iifname . ether saddr . arp saddr ip @guests "
    "iifname . arp saddr ether . arp saddr ip @guests goto sent_arp\n"
    "        drop\n    }\n";

// Isolated guests send to the bridge alone: then it passes on from port to port only what the host has
// translated. The host asks for a guest under any of its own addresses.
std::string sent_text(const RuleContext& context) {
    const std::string bridge = hardware_address(context.gateway);
    const std::string arp = context.isolate
                                ? fmt::format(
                                      "        arp operation request arp daddr ip {} accept\n"
                                      "        arp operation reply ether daddr {} accept\n        drop\n",
                                      context.gateway, bridge)
                                : "        accept\n";
    return "    chain sent_arp {\n" + arp + "    }\n    chain sent_packet {\n        " +
           (context.isolate ? fmt::format("ether daddr != {} drop\n", bridge) : "udp sport 67 drop\n") +
           limit_rule(context, "sent", "iifname") + "        accept\n    }\n";
}

std::string to_guest_text(const RuleContext& context) {
    std::string text =
        "    chain to_guest {\n"
        "        ether type ip oifname . ether daddr . ip daddr @guests goto taken_packet\n"
        "        ether type arp ether daddr ff:ff:ff:ff:ff:ff arp operation request accept\n"
        "        ether type arp oifname . ether daddr . arp daddr ip @guests accept\n";
    if (!context.isolate) text += "        ether type ip meta pkttype { broadcast, multicast } accept\n";
    return text + "        drop\n    }\n    chain taken_packet {\n" +
           limit_rule(context, "taken", "oifname") + "        accept\n    }\n";
}

std::string forward_text(const RuleContext& context, std::string_view devices) {
    if (!context.isolate) return "";
    return fmt::format(
        "    chain forward {{\n        type filter hook forward {0}\n"
        "        iifname \"{1}*\" ether type arp drop\n"
        "        iifname != \"{1}*\" oifname \"{1}*\" drop\n    }}\n",
        first, devices);
}

std::string port_rules(const RuleContext& context) {
    std::string rules;
    for (const GuestPorts& ports : context.guest_ports)
        rules += fmt::format("        {} dport {}-{} goto opened\n", ports.tcp ? "tcp" : "udp", ports.first,
                             ports.last);
    return rules;
}

// Only what is let through is counted: the kernel does not keep what is dropped.
std::string count_rule(const RuleContext& context) {
    if (context.connections == 0) return "";
    return fmt::format("ct state new add @connections {{ ip saddr ct count over {} }} drop\n",
                       context.connections);
}

// An answer to the host may be an error; a redirection is one to conntrack, and is refused.
constexpr std::string_view answer_rules =
    "        meta nfproto != ipv4 drop\n"
    "        ct state established accept\n"
    "        ct state related icmp type { destination-unreachable, time-exceeded, parameter-problem } "
    "accept\n";

constexpr std::string_view allowed_rule =
    "        ip saddr . meta l4proto . ip daddr . th dport @allowed goto opened\n";

std::string from_bridge_text(const RuleContext& context) {
    return fmt::format(
        "    chain opened {{\n        {}\n        accept\n    }}\n"
        "    chain from_bridge {{\n{}"
        "        ip daddr 127.0.0.0/8 drop\n"
        "        icmp type echo-request ip daddr {} goto opened\n{}{}"
        "        drop\n    }}\n",
        count_rule(context), answer_rules, context.gateway, port_rules(context), allowed_rule);
}

// Of another machine of the cluster a guest reaches what it would reach of this one. Which node ports that
// one has is not known here.
std::string to_machine_text(const RuleContext& context) {
    return fmt::format(
        "    chain to_machine {{\n{}{}{}"
        "        meta l4proto {{ tcp, udp }} th dport {}-{} goto opened\n"
        "        drop\n    }}\n",
        answer_rules, port_rules(context), allowed_rule, context.first_node_port, context.last_node_port);
}

// Link-local addresses are no business of a router; clouds keep secrets of the machine there.
std::string forward_rules(const RuleContext& context) {
    const std::string apart = fmt::format(
        "        iifname \"{0}\" oifgroup {1} jump apart\n        iifgroup {1} oifname \"{0}\" jump apart\n"
        "        iifname \"{0}\" ip daddr @parts jump apart\n"
        "        ip saddr @parts oifname \"{0}\" jump apart\n",
        context.bridge, bridge_group);
    return "    chain apart {\n        ct status dnat return\n        drop\n    }\n"
           "    chain forward {\n        type filter hook forward priority filter; policy accept;\n" +
           fmt::format("        iifname \"{}\" ip daddr @machines goto to_machine\n", context.bridge) +
           (context.isolate ? apart : "") +
           fmt::format(
               "        iifname \"{0}\" ip daddr 169.254.0.0/16 drop\n"
               "        iifname \"{0}\" goto opened\n        oifname \"{0}\" accept\n    }}\n",
               context.bridge);
}

}  // namespace

std::string device_prefix(std::string_view bridge) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : bridge) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash ^= hash >> 32;
    std::string name = "sv";
    for (int digit = 0; digit < 4; ++digit, hash /= 32) name += "0123456789abcdefghijklmnopqrstuv"[hash % 32];
    return name;
}

std::string hardware_address(std::string_view ipv4) {
    const auto address = parse_ipv4(ipv4);
    if (!address)
        throw Error(ErrorCode::invalid_argument, fmt::format("address '{}' is not an IPv4 address", ipv4));
    return fmt::format("02:16:{:02x}:{:02x}:{:02x}:{:02x}", *address >> 24, (*address >> 16) & 255U,
                       (*address >> 8) & 255U, *address & 255U);
}

std::string ties_table_text(const RuleContext& context) {
    const std::string devices = device_prefix(context.bridge);
    std::string text = fmt::format("table bridge {} {{\n", context.table);
    text += "    set guests { typeof iifname . ether saddr . ip saddr; }\n" + limit_set(context, "sent") +
            limit_set(context, "taken");
    text += sent_text(context) + std::string(from_guest_chain) + to_guest_text(context) +
            forward_text(context, devices);
    text += fmt::format(
        "    chain prerouting {{\n        type filter hook prerouting {0}\n"
        "        iifname \"{1}*\" goto from_guest\n    }}\n"
        // Frames to the bridge's own group do not pass the hook above when the bridge keeps them to itself.
        "    chain input {{\n        type filter hook input {0}\n"
        "        iifname \"{1}*\" ether daddr & ff:ff:ff:ff:ff:f0 == 01:80:c2:00:00:00 drop\n    }}\n"
        "    chain postrouting {{\n        type filter hook postrouting {0}\n"
        "        oifname \"{1}*\" goto to_guest\n    }}\n}}\n",
        first, devices);
    return text;
}

std::string tie_text(const RuleContext& context, const ConnectedContainer& container, std::string_view verb) {
    return fmt::format("{} element bridge {} guests {{ \"{}\" . {} . {} }}\n", verb, context.table,
                       container.device, hardware_address(container.address), container.address);
}

// A set, as an endpoint may be given twice.
std::string allowed_text(const RuleContext& context, const ConnectedContainer& container,
                         std::string_view verb) {
    std::set<std::string> items;
    for (const AllowedEndpoint& endpoint : container.allowed_endpoints) {
        const auto address = parse_ipv4(endpoint.address);
        if (!address) continue;
        for (const std::string_view protocol : {"tcp", "udp"})
            if (protocol == "tcp" ? endpoint.tcp : endpoint.udp)
                items.insert(fmt::format("{} . {} . {} . {}", container.address, protocol,
                                         ipv4_text(*address), endpoint.port));
    }
    if (items.empty()) return "";
    return fmt::format("{} element inet {} allowed {{ {} }}\n", verb, context.table,
                       join(std::vector<std::string>(items.begin(), items.end()), ", "));
}

std::string closing_text(const RuleContext& context) {
    std::string text = "    set allowed { type ipv4_addr . inet_proto . ipv4_addr . inet_service; }\n";
    if (context.connections != 0)
        text += "    set connections { type ipv4_addr; size 65535; flags dynamic; }\n";
    text += from_bridge_text(context) + to_machine_text(context);
    // A packet of a guest comes from the bridge; from the device itself only where it went past the bridge.
    // One of a guest of another machine comes by the way that leads there.
    text += fmt::format(
        "    chain past_bridge {{\n        type filter hook prerouting priority raw; policy accept;\n"
        "        iifname \"{}*\" drop\n"
        "        iifname != @links ip saddr @parts drop\n    }}\n"
        "    chain input {{\n        type filter hook input priority filter; policy accept;\n"
        "        iifname \"{}\" goto from_bridge\n"
        "        ip saddr @parts goto from_bridge\n    }}\n",
        device_prefix(context.bridge), context.bridge);
    return text + forward_rules(context);
}

}  // namespace svc::lxc
