#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/network/addresses.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"
#include "libsvc/runtime/lxc/network/rules.h"

using namespace svc;
using namespace svc::lxc;

namespace {

RuleContext context() {
    RuleContext context;
    context.table = table_name("svcbr0");
    context.bridge = "svcbr0";
    context.network = "192.168.96.0/20";
    context.gateway = "192.168.100.1";
    context.address = "10.0.0.5";
    return context;
}

ConnectedContainer container() {
    PortForward web;
    web.port = 80;
    web.node_port = 10000;
    web.tcp = true;
    web.exposed = true;
    PortForward range;
    range.port = 5000;
    range.node_port = 10001;
    range.count = 2;
    range.tcp = range.udp = true;
    return {"svdevice", "192.168.100.2", {web, range}, {}};
}

}  // namespace

TEST_CASE("the tie and the ports of a container are one batch of elements") {
    CHECK(add_text(context(), container()) ==
          "add element bridge svc_svcbr0 guests { \"svdevice\" . 02:16:c0:a8:64:02 . 192.168.100.2 }\n"
          "add element inet svc_svcbr0 tcp_private { 10001 : 192.168.100.2 . 5000, 10002 : 192.168.100.2 . "
          "5001 }\n"
          "add element inet svc_svcbr0 udp_private { 10001 : 192.168.100.2 . 5000, 10002 : 192.168.100.2 . "
          "5001 }\n"
          "add element inet svc_svcbr0 tcp_public { 10000 : 192.168.100.2 . 80 }\n");
    CHECK(remove_text(context(), container()) ==
          "delete element bridge svc_svcbr0 guests { \"svdevice\" . 02:16:c0:a8:64:02 . 192.168.100.2 }\n"
          "delete element inet svc_svcbr0 tcp_private { 10001, 10002 }\n"
          "delete element inet svc_svcbr0 udp_private { 10001, 10002 }\n"
          "delete element inet svc_svcbr0 tcp_public { 10000 }\n");
    CHECK(add_text(context(), {"sv", "192.168.100.3", {}, {}}) ==
          "add element bridge svc_svcbr0 guests { \"sv\" . 02:16:c0:a8:64:03 . 192.168.100.3 }\n");
}

TEST_CASE("the table replaces the old one and carries what runs already") {
    const std::string text = table_text(context(), {container()});
    CHECK(text.find("add table inet svc_svcbr0\ndelete table inet svc_svcbr0\n"
                    "add table bridge svc_svcbr0\ndelete table bridge svc_svcbr0\n"
                    "table inet svc_svcbr0 {\n") == 0);
    CHECK(text.find("\ntable bridge svc_svcbr0 {\n") != std::string::npos);
    CHECK(text.find("ip daddr 10.0.0.5 dnat ip to tcp dport map @tcp_private\n") != std::string::npos);
    CHECK(text.find("ip daddr @public_addresses dnat ip to udp dport map @udp_public\n") !=
          std::string::npos);
    CHECK(text.find(
              "ip saddr 192.168.96.0/20 ip daddr != 192.168.96.0/20 oifname != \"svcbr0\" masquerade\n") !=
          std::string::npos);
    CHECK(text.find("add element inet svc_svcbr0 tcp_public { 10000 : 192.168.100.2 . 80 }\n") !=
          std::string::npos);
}

TEST_CASE("the addresses of exposed services are replaced in one transaction") {
    CHECK(public_addresses_text("svc_svcbr0", {"203.0.113.9", "10.0.0.5"}) ==
          "flush set inet svc_svcbr0 public_addresses\n"
          "add element inet svc_svcbr0 public_addresses { 203.0.113.9, 10.0.0.5 }\n");
}

TEST_CASE("the host is closed to guests but for the ports that are listed") {
    RuleContext rules = context();
    CHECK(closing_text(rules).find("p dport ") == std::string::npos);
    rules.guest_ports = {{true, 4000, 4000}, {false, 5000, 5010}};
    const std::string text = closing_text(rules);
    CHECK(text.find("        tcp dport 4000-4000 goto opened\n        udp dport 5000-5010 goto opened\n") !=
          std::string::npos);
    CHECK(text.find("th dport @allowed goto opened\n        drop\n") != std::string::npos);
    CHECK(text.find("iifname \"svcbr0\" goto from_bridge\n") != std::string::npos);
}

TEST_CASE("a container reaches what it was told to use, once for each protocol, and only by address") {
    ConnectedContainer connected{"sv", "192.168.100.3", {}, {}};
    CHECK(allowed_text(context(), connected, "add") == "");
    connected.allowed_endpoints = {{"192.168.100.1", 8095, true, true},
                                   {"192.168.100.1", 8095, true, false},
                                   {"gateway.example } ; flush ruleset", 1, true, true},
                                   {"fd00::1", 4000, true, false}};
    CHECK(allowed_text(context(), connected, "add") ==
          "add element inet svc_svcbr0 allowed { 192.168.100.3 . tcp . 192.168.100.1 . 8095, "
          "192.168.100.3 . udp . 192.168.100.1 . 8095 }\n");
    CHECK(remove_text(context(), connected).find("delete element inet svc_svcbr0 allowed {") !=
          std::string::npos);
}

TEST_CASE("limits are rules only where there is one") {
    RuleContext rules = context();
    CHECK(ties_table_text(rules).find("limit rate") == std::string::npos);
    CHECK(closing_text(rules).find("ct count") == std::string::npos);
    rules.bandwidth = 100'000'000;
    rules.connections = 77;
    const std::string ties = ties_table_text(rules);
    for (const char* rule : {"update @sent { iifname limit rate over 12500000 bytes/second",
                             "update @taken { oifname limit rate over 12500000 bytes/second"})
        CHECK(ties.find(rule) != std::string::npos);
    CHECK(closing_text(rules).find("ip saddr ct count over 77 } drop") != std::string::npos);
}

TEST_CASE("isolated guests send to the bridge alone, others to each other and as no DHCP server") {
    RuleContext rules = context();
    CHECK(ties_table_text(rules).find("ether daddr != 02:16:c0:a8:64:01 drop") != std::string::npos);
    CHECK(ties_table_text(rules).find("hook forward") != std::string::npos);
    CHECK(closing_text(rules).find("oifgroup") != std::string::npos);
    rules.isolate = false;
    CHECK(ties_table_text(rules).find("ether daddr !=") == std::string::npos);
    CHECK(ties_table_text(rules).find("udp sport 67 drop") != std::string::npos);
    CHECK(ties_table_text(rules).find("hook forward") == std::string::npos);
    CHECK(closing_text(rules).find("oifgroup") == std::string::npos);
}

TEST_CASE("table names are identifiers and differ as bridges do") {
    CHECK(table_name("br-a.1") == "svc_br_2d_a_2e_1");
    CHECK(table_name("br-a") != table_name("br.a"));
}

TEST_CASE("subnets are checked and computed") {
    const Subnet subnet = parse_subnet("192.168.100.1/20");
    CHECK(subnet.network_text() == "192.168.96.0/20");
    CHECK(subnet.contains(*parse_ipv4("192.168.111.254")));
    CHECK_FALSE(subnet.contains(*parse_ipv4("192.168.112.1")));
    CHECK(subnet.overlaps(parse_subnet("192.168.97.1/24")));
    CHECK(parse_subnet("192.168.97.1/24").overlaps(subnet));
    CHECK_FALSE(subnet.overlaps(parse_subnet("192.168.112.1/24")));
    for (const char* wrong : {"", "192.168.100.1", "192.168.100.1/31", "192.168.100.1/x", "300.1.1.1/24",
                              "192.168.96.0/20", "192.168.111.255/20", "192.168.100.1/-1"})
        CHECK_THROWS_AS(parse_subnet(wrong), Error);
}

TEST_CASE("the default route of the lowest metric names the machine's interface") {
    const std::string head =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
    CHECK(default_interface(head + "eth1\t00000000\t010000C0\t0003\t0\t0\t200\t00000000\t0\t0\t0\n"
                                   "eth0\t00000000\t010000C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                                   "eth2\t000000C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n") == "eth0");
    CHECK(default_interface(head) == "");
}

TEST_CASE("the id range is root's own, else one that nobody has") {
    CHECK(choose_id_base("", "", 65536) == 100000);
    CHECK(choose_id_base("root:500000:1000000\nann:100000:65536\n", "root:500000:65536\n", 65536) == 500000);
    CHECK(choose_id_base("ann:100000:65536\n", "ann:100000:65536\nbob:165536:65536\n", 65536) == 231072);
    CHECK(choose_id_base("root:300000:1000\n", "root:300000:1000\n", 65536) == 301000);
    CHECK(choose_id_base("root:300000:65536\n", "root:400000:65536\n", 65536) == 465536);
    CHECK(choose_id_base("rubbish\nroot:x:y\n", "", 65536) == 100000);
}
