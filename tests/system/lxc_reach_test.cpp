// Whom guests reach, and how much of it: real containers.
#include <catch2/catch.hpp>

#include "tests/support/skip.h"
#include "tests/system/two_guests.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

TEST_CASE("of the host a guest reaches the ports that it may, by any of its addresses, and nothing else") {
    TwoGuests world;
    LxcRuntime& runtime = world.fixture.runtime();
    const int pid = runtime.inspect("a")->init_pid;
    const std::string bridge = world.fixture.options().bridge;
    const std::string node = runtime.capacity().address;
    const std::uint16_t open = world.open_port, closed = world.closed_port;
    LxcFixture neighbour;  // has an address of the host as well
    const std::string foreign = neighbour.options().subnet.substr(0, neighbour.options().subnet.find('/'));

    for (const std::string& address : {world.gateway, node, foreign}) {
        INFO(address);
        const FileDescriptor refused = connecting(pid, address, closed);
        CHECK(is_connected(connecting(pid, address, open), patience));
        CHECK_FALSE(is_connected(refused));
        CHECK_FALSE(world.is_served(
            world.to_gateway(ipv4(world.own, address, 17, udp(4000, world.closed_port, mark)))));
    }
    run_shell("echo 1 > /proc/sys/net/ipv4/conf/" + bridge + "/route_localnet");
    for (const std::uint16_t port : {world.open_port, world.closed_port})
        CHECK_FALSE(
            world.is_served(world.to_gateway(ipv4(world.own, "127.0.0.1", 17, udp(4000, port, mark)))));
    CHECK(shell_inside(runtime, "a", "ping -c 1 -W 20 " + world.gateway + " >/dev/null && echo yes").output ==
          "yes\n");
}

TEST_CASE("a service that a guest was told to use is open to it while it runs, and to no other") {
    TwoGuests world([](LxcOptions& options) { options.guest_ports.clear(); });
    LxcRuntime& runtime = world.fixture.runtime();
    const std::uint16_t port = world.open_port, other_port = world.closed_port;
    ContainerSpec spec = world.fixture.spec("c", 4);
    spec.allowed_endpoints = {{world.gateway, port, true, false}, {"a-name.example", other_port, true, true}};
    const std::string listed = "nft list set inet " + lxc::table_name(world.fixture.options().bridge) +
                               " allowed | grep -c '" + spec.address + " . tcp . " + world.gateway + "'";
    runtime.create(spec);
    runtime.start("c");
    world.fixture.reopen();
    LxcRuntime& next = world.fixture.runtime();
    const FileDescriptor of_a = connecting(next.inspect("a")->init_pid, world.gateway, port);
    const FileDescriptor elsewhere = connecting(next.inspect("c")->init_pid, world.gateway, other_port);
    CHECK(is_connected(connecting(next.inspect("c")->init_pid, world.gateway, port), patience));
    CHECK_FALSE(is_connected(of_a));
    CHECK_FALSE(is_connected(elsewhere));
    CHECK(output_of(listed) == "1\n");
    next.stop("c", 0s);
    CHECK(output_of(listed) == "0\n");
}

TEST_CASE("guests of two daemons do not reach each other through the host") {
    TwoGuests world;
    LxcFixture neighbour;
    neighbour.options().isolate = false;
    neighbour.reopen();
    neighbour.add_layer("base", patient_init);
    const ContainerSpec spec = neighbour.spec("n", 2);
    neighbour.runtime().create(spec);
    neighbour.runtime().start("n");
    const std::string beyond = neighbour.options().subnet.substr(0, neighbour.options().subnet.find('/'));
    const RawPort target(neighbour.runtime().inspect("n")->init_pid, "eth0");
    const RawPort neighbour_bridge(::getpid(), neighbour.options().bridge);
    const auto ends_at = [&](const RawPort& bridge, const RawPort& port, const std::string& gateway,
                             const std::string& address) {
        const std::string end = world.next_end();
        bridge.send(
            ethernet(mac_of(address), mac_of(gateway), 0x0800, ipv4(gateway, address, 1, echo_request(end))));
        return port.saw(mark, end);
    };
    world.port->send(world.to_gateway(world.marked_udp(world.own, spec.address)));
    world.host->saw(mark, world.end_at_host());
    CHECK_FALSE(ends_at(neighbour_bridge, target, beyond, spec.address));
    target.send(
        ethernet(mac_of(beyond), mac_of(spec.address), 0x0800, world.marked_udp(spec.address, world.own)));
    CHECK_FALSE(ends_at(*world.host, *world.port, world.gateway, world.own));
}

TEST_CASE("the host reaches its guests, and they answer") {
    TwoGuests world;
    LxcRuntime& runtime = world.fixture.runtime();
    ExecSpec exec;
    exec.command = {"nc", "-l", "-p", "8001", "-e", "echo", "served"};
    const auto server = runtime.exec("a", exec);
    CHECK(eventually([&] {
        return run_command({"/bin/busybox", "nc", "-w", "20", world.own, "8001"}, patience).output ==
               "served\n";
    }));
}

TEST_CASE("guests do not reach each other, neither on the bridge nor through the host") {
    TwoGuests world;
    const std::string packet = world.marked_udp(world.own, world.other);
    CHECK_FALSE(world.reaches_anybody(world.from_own(mac_of(world.other), packet)));
    CHECK_FALSE(world.reaches_other(world.to_gateway(packet)));
    CHECK_FALSE(world.reaches_other(world.from_own(all_macs, packet)));
    CHECK_FALSE(world.reaches_other(
        ethernet(all_macs, mac_of(world.own), 0x0806,
                 arp_bytes({1, mac_of(world.own), world.own, std::string(6, '\0'), world.other}, mark))));
}

TEST_CASE("guests reach each other where the operator wants it, under their own addresses only") {
    TwoGuests world([](LxcOptions& options) { options.isolate = false; });
    const std::string other_mac = mac_of(world.other), own_mac = mac_of(world.own);
    CHECK(world.reaches_other(world.from_own(other_mac, world.marked_udp(world.own, world.other))));
    CHECK(world.reaches_other(
        ethernet(all_macs, own_mac, 0x0806,
                 arp_bytes({1, own_mac, world.own, std::string(6, '\0'), world.other}, mark))));
    CHECK_FALSE(world.reaches_other(world.from_own(other_mac, world.marked_udp(world.gateway, world.other))));
    CHECK_FALSE(world.reaches_other(ethernet(
        other_mac, own_mac, 0x0806, arp_bytes({2, own_mac, world.gateway, other_mac, world.other}, mark))));
    CHECK_FALSE(world.reaches_other(
        ethernet(other_mac, own_mac, 0x0800, ipv4(world.own, world.other, 17, udp(67, 68, mark)))));
    CHECK_FALSE(world.is_served(
        world.to_gateway(ipv4(world.own, world.gateway, 17, udp(4000, world.closed_port, mark)))));
    CHECK(shell_inside(world.fixture.runtime(), "a",
                       "ping -c 1 -W 20 " + world.other + " >/dev/null && echo yes")
              .output == "yes\n");
}

TEST_CASE("a guest reaches another's service by its node port") {
    TwoGuests world;
    LxcRuntime& runtime = world.fixture.runtime();
    ContainerSpec spec = world.fixture.spec("c", 4);
    PortForward forward;
    forward.port = 8001;
    forward.node_port = 10950;
    forward.tcp = true;
    spec.forwards = {forward};
    runtime.create(spec);
    runtime.start("c");
    ExecSpec exec;
    exec.command = {"nc", "-ll", "-p", "8001", "-e", "echo", "served"};
    const auto server = runtime.exec("c", exec);
    const std::string address = runtime.capacity().address;
    CHECK(eventually(
        [&] { return shell_inside(runtime, "a", "nc -w 20 " + address + " 10950").output == "served\n"; }));
    CHECK_FALSE(is_connected(connecting(runtime.inspect("a")->init_pid, spec.address, 8001), 200ms));
}

TEST_CASE("rules that others have removed are made again at the latest with the next change") {
    TwoGuests world;
    const std::string table = lxc::table_name(world.fixture.options().bridge);
    run_shell("nft 'delete table bridge " + table + "; delete table inet " + table + "'");
    LxcRuntime& runtime = world.fixture.runtime();
    SECTION("a start") {
        runtime.create(world.fixture.spec("c", 4));
        runtime.start("c");
    }
    SECTION("a stop") {
        runtime.stop("b", 0s);
    }
    const std::string forged = world.marked_udp(world.other, world.gateway);
    CHECK_FALSE(world.reaches_host(world.to_gateway(forged)));
    CHECK(world.reaches_host(world.to_gateway(world.marked_udp(world.own, world.gateway))));
    CHECK_FALSE(world.is_served(
        world.to_gateway(ipv4(world.own, world.gateway, 17, udp(4000, world.closed_port, mark)))));
}

TEST_CASE("no guest sends or takes more than the bandwidth it has") {
    constexpr double rate = 1e6;
    TwoGuests world([](LxcOptions& options) { options.bandwidth = 8'000'000; });
    const std::string bridge = world.fixture.options().bridge;
    const auto counter = [](const std::string& device, const std::string& name) {
        return std::stod(read_file("/sys/class/net/" + device + "/statistics/" + name));
    };
    const std::string payload(1400, 'x');
    const auto flood = [&](const RawPort& from, const std::string& frame) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 6000; ++i) from.send(frame);  // 8 MB
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const double before = counter(bridge, "rx_bytes");
    const double out =
        flood(*world.port,
              world.to_gateway(ipv4(world.own, world.gateway, 17, udp(1, world.closed_port, payload))));
    const double sent = counter(bridge, "rx_bytes") - before;
    CHECK(sent > rate / 2);
    CHECK(sent < rate * (1.5 + out));  // a second's worth may come at once

    const std::string device = world.device("b");
    const double taken_before = counter(device, "tx_bytes");
    const double in = flood(*world.host, ethernet(mac_of(world.other), mac_of(world.gateway), 0x0800,
                                                  ipv4(world.gateway, world.other, 17, udp(1, 2, payload))));
    const double taken = counter(device, "tx_bytes") - taken_before;
    CHECK(taken > rate / 2);
    CHECK(taken < rate * (1.5 + in));
}

TEST_CASE("a guest has so many connections at once and no more") {
    TwoGuests world([](LxcOptions& options) { options.connections = 20; });
    const int pid = world.fixture.runtime().inspect("a")->init_pid;
    const std::uint16_t open = world.open_port;
    std::vector<FileDescriptor> connections;
    for (int i = 0; i < 20; ++i) {
        connections.push_back(connecting(pid, world.gateway, open));
        CHECK(is_connected(connections.back(), patience));
    }
    const FileDescriptor excess = connecting(pid, world.gateway, open);
    const FileDescriptor of_another =
        connecting(world.fixture.runtime().inspect("b")->init_pid, world.gateway, open);
    CHECK(is_connected(of_another, patience));
    CHECK_FALSE(is_connected(excess));
}
