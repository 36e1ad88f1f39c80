// Root of a guest sends what it should not, as from a raw socket: real containers.
#include <catch2/catch.hpp>

#include "tests/support/skip.h"
#include "tests/system/two_guests.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

TEST_CASE("an ARP message that claims another's address reaches nobody") {
    TwoGuests world;
    const std::string own_mac = mac_of(world.own), gateway_mac = mac_of(world.gateway);
    const std::string& own = world.own;
    struct Row {
        const char* what;
        std::string from, to;
        Arp arp;
    };
    const std::vector<Row> rows = {
        {"the gateway's, gratuitous", own_mac, all_macs, {1, own_mac, world.gateway, {}, world.gateway}},
        {"the gateway's, reply to the other",
         own_mac,
         mac_of(world.other),
         {2, own_mac, world.gateway, mac_of(world.other), world.other}},
        {"the other's, to the gateway",
         own_mac,
         gateway_mac,
         {2, own_mac, world.other, gateway_mac, world.gateway}},
        {"the other's, gratuitous", own_mac, all_macs, {2, own_mac, world.other, all_macs, world.other}},
        {"the other's with its hardware address",
         mac_of(world.other),
         all_macs,
         {1, mac_of(world.other), world.other, std::string(6, '\0'), world.gateway}},
        {"its own with the other's hardware address",
         own_mac,
         all_macs,
         {1, mac_of(world.other), own, std::string(6, '\0'), world.gateway}},
        {"its own from another hardware address",
         strange_mac,
         all_macs,
         {1, own_mac, own, std::string(6, '\0'), world.gateway}},
        {"a free one",
         own_mac,
         all_macs,
         {1, own_mac, world.fixture.spec("c", 77).address, std::string(6, '\0'), world.gateway}},
    };
    for (Row row : rows) {
        INFO(row.what);
        if (row.arp.target_mac.empty()) row.arp.target_mac = std::string(6, '\0');
        const std::string frame = ethernet(row.to, row.from, 0x0806, arp_bytes(row.arp, mark));
        CHECK_FALSE(world.reaches_host(frame));
        CHECK_FALSE(world.reaches_other(frame));
    }
    const std::string neighbours = output_of("ip neigh show dev " + world.fixture.options().bridge +
                                             "; bridge fdb show br " + world.fixture.options().bridge);
    CHECK(neighbours.find(world.fixture.spec("c", 77).address) == std::string::npos);
    CHECK(neighbours.find("02:16:cb:00:71:4d") == std::string::npos);
    // What it needs itself is answered.
    const Arp question{1, own_mac, own, std::string(6, '\0'), world.gateway};
    world.port->send(ethernet(all_macs, own_mac, 0x0806, arp_bytes(question, "")));
    const std::string answer = u16(2) + gateway_mac + ip_bytes(world.gateway);
    while (world.port->next().find(answer) == std::string::npos) {
    }
}

TEST_CASE("a packet with another's source address reaches nobody") {
    TwoGuests world;
    const std::string& gateway = world.gateway;
    for (const std::string& source :
         {world.other, gateway, stranger, std::string("0.0.0.0"), std::string("127.0.0.1"),
          std::string("255.255.255.255"), std::string("224.0.0.1"), world.fixture.spec("c", 77).address})
        for (const std::string& target : {gateway, world.other}) {
            INFO(source << " to " << target);
            CHECK_FALSE(world.reaches_anybody(world.to_gateway(world.marked_udp(source, target))));
            CHECK_FALSE(world.reaches_anybody(world.from_own(all_macs, world.marked_udp(source, target))));
            CHECK_FALSE(
                world.reaches_anybody(world.from_own(mac_of(target), world.marked_udp(source, target))));
        }
    for (const unsigned fragment : {0x2000U, 0x2001U, 0x0001U, 0x1fffU}) {
        INFO("fragment " << fragment);
        CHECK_FALSE(world.reaches_anybody(
            world.to_gateway(ipv4(world.other, gateway, 17, udp(1, world.open_port, mark), fragment))));
    }
    CHECK(world.reaches_host(world.to_gateway(world.marked_udp(world.own, gateway))));
}

TEST_CASE("a frame with another's hardware address reaches nobody") {
    TwoGuests world;
    const std::string packet = world.marked_udp(world.own, world.gateway);
    for (const std::string& source :
         {mac_of(world.other), mac_of(world.gateway), strange_mac, all_macs, std::string(6, '\0')})
        CHECK_FALSE(world.reaches_anybody(ethernet(mac_of(world.gateway), source, 0x0800, packet)));
    const std::string table = output_of("bridge fdb show br " + world.fixture.options().bridge);
    CHECK(table.find("02:16:cb:00:71:4d") == std::string::npos);
}

TEST_CASE("frames of other protocols, with tags or for groups reach nobody") {
    TwoGuests world;
    const std::string own_mac = mac_of(world.own), gateway_mac = mac_of(world.gateway);
    const std::string honest = world.marked_udp(world.own, world.gateway);
    const std::string forged = world.marked_udp(world.other, world.gateway);
    for (const std::string& packet : {honest, forged})
        for (const std::string& target : {gateway_mac, all_macs, mac_of(world.other)}) {
            const std::string ip = u16(0x0800) + packet;
            CHECK_FALSE(world.reaches_anybody(ethernet(target, own_mac, 0x8100, u16(5) + ip)));
            CHECK_FALSE(world.reaches_anybody(ethernet(target, own_mac, 0x8100, u16(0) + ip)));
            CHECK_FALSE(world.reaches_anybody(ethernet(target, own_mac, 0x88a8, u16(5) + ip)));
            CHECK_FALSE(
                world.reaches_anybody(ethernet(target, own_mac, 0x88a8, u16(5) + u16(0x8100) + u16(6) + ip)));
            CHECK_FALSE(world.reaches_anybody(
                ethernet(target, own_mac, 0x8864, u16(0x1100) + u32(1) + u16(0x0021) + packet)));
            CHECK_FALSE(world.reaches_anybody(ethernet(target, own_mac, 0x8847, u32(0x140) + packet)));
        }
    for (const unsigned type : {0x8035U, 0x86ddU, 0x8863U, 0x888eU, 0x88ccU, 0x88e5U, 0x9000U, 0x0004U})
        for (const std::string& target : {gateway_mac, all_macs, mac_of(world.other)}) {
            INFO("protocol " << type);
            CHECK_FALSE(world.reaches_anybody(ethernet(target, own_mac, type, mark)));
        }
    const std::string bpdu = mac_bytes("01:80:c2:00:00:00");
    CHECK_FALSE(world.reaches_anybody(bpdu + own_mac + u16(38) + u8(0x42) + u8(0x42) + u8(3) +
                                      std::string(35, '\0') + mark));
    CHECK_FALSE(world.reaches_anybody(ethernet(mac_bytes("01:00:5e:00:00:fb"), own_mac, 0x0800,
                                               world.marked_udp(world.own, "224.0.0.251"))));
    CHECK_FALSE(world.reaches_anybody(
        ethernet(all_macs, own_mac, 0x0800, ipv4(world.own, "255.255.255.255", 17, udp(68, 67, mark)))));
    CHECK_FALSE(world.reaches_anybody(
        ethernet(mac_of(world.other), own_mac, 0x0800, ipv4(world.own, world.other, 17, udp(67, 68, mark)))));
}

TEST_CASE("a group address of the bridge's own leads past no rule") {
    TwoGuests world;
    const std::string own_mac = mac_of(world.own), bridge = world.fixture.options().bridge;
    const std::string closed = ipv4(world.own, world.gateway, 17, udp(4000, world.closed_port, mark));
    for (unsigned last = 0; last < 16; ++last) {
        INFO("01:80:c2:00:00:0" << std::hex << last);
        const std::string group = mac_bytes("01:80:c2:00:00:00").substr(0, 5) + u8(last);
        CHECK_FALSE(world.is_served(ethernet(group, own_mac, 0x0800, closed)));
        CHECK_FALSE(world.is_served(ethernet(group, strange_mac, 0x0800, closed)));
        world.port->send(ethernet(group, strange_mac, 0x86dd, router_advertisement("2001:db8:bad::")));
        world.port->send(ethernet(group, strange_mac, 0x0806,
                                  arp_bytes({1, strange_mac, world.other, {6, '\0'}, world.gateway}, "")));
        world.host->saw(mark, world.end_at_host());
    }
    const std::string state =
        output_of("bridge fdb show br " + bridge + "; ip -6 route show table all; ip -6 addr; ip neigh");
    CHECK(state.find("02:16:cb:00:71:4d") == std::string::npos);
    CHECK(state.find("2001:db8:bad:") == std::string::npos);
    CHECK(state.find("fe80::bad") == std::string::npos);
}

TEST_CASE(
    "the host has no IPv6 on the bridge, and no advertisement of a guest gives it a route or an address") {
    TwoGuests world;
    const std::string own_mac = mac_of(world.own), bridge = world.fixture.options().bridge;
    CHECK(output_of("ip -6 addr show dev " + bridge) == "");
    CHECK(read_file("/proc/sys/net/ipv6/conf/" + bridge + "/disable_ipv6") == "1\n");
    CHECK(read_file("/proc/sys/net/ipv6/conf/" + bridge + "/accept_ra") == "0\n");
    CHECK(output_of("ip -6 addr show dev " + world.device("a")) == "");
    for (const std::string& target :
         {mac_bytes("33:33:00:00:00:01"), mac_of(world.gateway), all_macs, mac_of(world.other)}) {
        world.port->send(ethernet(target, own_mac, 0x86dd, router_advertisement("2001:db8:bad::")));
        CHECK_FALSE(world.reaches_anybody(
            ethernet(target, own_mac, 0x86dd,
                     icmpv6("fe80::bad", "ff02::1", 136, u32(0x20000000) + ip6_bytes("fe80::1") + mark))));
    }
    const std::string state = output_of("ip -6 route show table all; ip -6 addr; ip -6 neigh");
    CHECK(state.find("2001:db8:bad:") == std::string::npos);
    CHECK(state.find("fe80::bad") == std::string::npos);
}

TEST_CASE("a guest that changes its addresses has no network until it takes them back") {
    TwoGuests world;
    LxcRuntime& runtime = world.fixture.runtime();
    const auto reached = [&](const std::string& source) {
        return shell_inside(runtime, "a",
                            "ping -c 1 -W 2 -I " + source + " " + world.gateway + " >/dev/null && echo yes")
                   .output == "yes\n";
    };
    const std::string free = world.fixture.spec("x", 99).address;
    REQUIRE(reached(world.own));
    shell_inside(runtime, "a", "ip addr add " + free + "/24 dev eth0");
    CHECK_FALSE(reached(free));
    CHECK(reached(world.own));
    const std::string gateway_route = "ip route replace default via " + world.gateway;
    shell_inside(runtime, "a",
                 "ip link set eth0 down; ip link set eth0 address 02:16:cb:00:71:4d; ip link set eth0 up; " +
                     gateway_route);
    CHECK_FALSE(reached(world.own));
    shell_inside(runtime, "a",
                 "ip link set eth0 down; ip link set eth0 address " + lxc::hardware_address(world.own) +
                     "; ip link set eth0 up; " + gateway_route);
    CHECK(eventually([&] { return reached(world.own); }));
}

TEST_CASE("what is sent to a guest reaches no other, even where the bridge has forgotten its port") {
    TwoGuests world;
    const std::string packet = ipv4(world.gateway, world.own, 17, udp(1, 2, mark));
    run_shell("ip link set " + world.fixture.options().bridge + " type bridge fdb_flush");
    world.host->send(ethernet(mac_of(world.own), mac_of(world.gateway), 0x0800, packet));
    world.host->send(ethernet(all_macs, mac_of(world.gateway), 0x0800, packet));
    const std::string end = world.next_end();
    world.host->send(ethernet(mac_of(world.other), mac_of(world.gateway), 0x0800,
                              ipv4(world.gateway, world.other, 1, echo_request(end))));
    CHECK_FALSE(world.other_port->saw(mark, end));
}

TEST_CASE(
    "a guest is tied to its addresses while no daemon runs, after it starts again, and without a rule") {
    TwoGuests world;
    const std::string table = lxc::table_name(world.fixture.options().bridge);
    const std::string forged = world.to_gateway(world.marked_udp(world.other, world.gateway));
    const std::string honest = world.to_gateway(world.marked_udp(world.own, world.gateway));
    world.fixture.close();
    CHECK_FALSE(world.reaches_anybody(forged));
    CHECK(world.reaches_host(honest));
    world.fixture.reopen();
    CHECK_FALSE(world.reaches_anybody(forged));
    CHECK(world.reaches_host(honest));
    CHECK(output_of("nft list set bridge " + table + " guests | grep -c " + world.own) == "1\n");

    SECTION("one that cannot be read keeps its own") {
        world.fixture.close();
        const std::string spec = (world.fixture.container("a") / "spec.json").native();
        run_shell("cp " + spec + " " + spec + ".kept; echo rubbish > " + spec);
        world.fixture.reopen();
        CHECK(world.fixture.runtime().inspect("a")->state == ContainerState::unreadable);
        CHECK_FALSE(world.reaches_anybody(forged));
        CHECK(world.reaches_host(honest));
        run_shell("mv " + spec + ".kept " + spec);
    }
    SECTION("one that starts itself again keeps its own") {
        LxcRuntime& runtime = world.fixture.runtime();
        const int before = runtime.inspect("a")->init_pid;
        shell_inside(runtime, "a", "reboot -f");
        REQUIRE(eventually([&] {
            const auto info = runtime.inspect("a");
            return info && info->init_pid > 0 && info->init_pid != before;
        }));
        REQUIRE(eventually([&] {
            return shell_inside(runtime, "a", "ip addr show eth0").output.find(world.own) !=
                   std::string::npos;
        }));
        world.port = world.open_port_of("a");
        CHECK_FALSE(world.reaches_anybody(forged));
        CHECK(world.reaches_host(honest));
    }
    SECTION("one without a rule reaches nobody") {
        run_shell("nft flush set bridge " + table + " guests");
        world.port->send(honest);
        const std::string end = world.next_end();
        world.host->send(ethernet(mac_of(world.own), mac_of(world.gateway), 0x0800,
                                  ipv4(world.gateway, world.own, 1, echo_request(end))));
        world.fixture.reopen();
        CHECK_FALSE(world.host->saw(mark, world.end_at_host()));
        CHECK_FALSE(world.port->saw(end, ip_bytes(world.gateway)));
    }
    SECTION("one that ends leaves none") {
        world.fixture.runtime().stop("a", 0s);
        CHECK(output_of("nft list set bridge " + table + " guests | grep " + world.own) == "");
        world.fixture.runtime().remove("b");
        CHECK(output_of("nft list set bridge " + table + " guests | grep -c elements") == "0\n");
    }
}

TEST_CASE("rules that another program removes are made again") {
    TwoGuests world;
    const std::string table = lxc::table_name(world.fixture.options().bridge);
    const std::string both = "nft list table inet " + table + "; nft list table bridge " + table;
    const std::string whole = output_of(both);
    REQUIRE(whole.find(world.own) != std::string::npos);
    for (const std::string& removal :
         {"delete table bridge " + table, "delete table inet " + table,
          "delete table inet " + table + "; delete table bridge " + table, "flush table bridge " + table,
          "flush chain inet " + table + " from_bridge"}) {
        INFO(removal);
        run_shell("nft '" + removal + "'");
        CHECK(eventually([&] { return output_of(both) == whole; }));
    }
    CHECK_FALSE(world.reaches_anybody(world.to_gateway(world.marked_udp(world.other, world.gateway))));
    CHECK(world.reaches_host(world.to_gateway(world.marked_udp(world.own, world.gateway))));
}

TEST_CASE("rules with which another program has replaced ours by old ones are made again") {
    TwoGuests world;
    const std::string table = lxc::table_name(world.fixture.options().bridge);
    const std::string guests = "nft list set bridge " + table + " guests";
    const std::string saved = (world.fixture.options().state_dir / "saved.nft").native();
    run_shell("nft list table bridge " + table + " > " + saved);
    world.fixture.runtime().stop("a", 0s);
    const std::string now = output_of(guests);
    REQUIRE(now.find(world.own) == std::string::npos);
    run_shell("{ echo delete table bridge " + table + "; cat " + saved + "; } | nft -f -");
    CHECK(eventually([&] { return output_of(guests) == now; }));
}
