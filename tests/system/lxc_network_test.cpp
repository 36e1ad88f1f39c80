// What root of a guest can do with its network, with real containers.
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <catch2/catch.hpp>

#include "tests/support/skip.h"
#include "tests/system/lxc_fixture.h"
#include "tests/system/raw_frames.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

const std::string mark = "forged";
const std::string stranger = "203.0.113.77";
const std::string strange_mac = mac_bytes("02:16:cb:00:71:4d");

std::string output_of(const std::string& script) {
    return run_command({"/bin/sh", "-c", script}, patience).output;
}

FileDescriptor udp_socket(const std::string& address, std::uint16_t& port) {
    FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, address.c_str(), &own.sin_addr);
    socklen_t size = sizeof own;
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), size) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
        throw system_error("cannot bind a socket", errno);
    port = ntohs(own.sin_port);
    return socket;
}

std::string datagram(int socket) {
    std::array<char, 2048> buffer;
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    return got < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(got));
}

// Two guests, a raw socket in each, one on the bridge; a service of the host that guests may reach and one
// that they may not.
struct TwoGuests {
    explicit TwoGuests(const std::function<void(LxcOptions&)>& change = {}) {
        LxcOptions& options = fixture.options();
        open_service = udp_socket("0.0.0.0", open_port);
        closed_service = udp_socket("0.0.0.0", closed_port);
        options.guest_ports = {{false, open_port, open_port}, {true, open_port, open_port}};
        if (change) change(options);
        fixture.reopen();
        fixture.add_layer("base", patient_init);
        for (unsigned number : {2, 3}) {
            const std::string id = number == 2 ? "a" : "b";
            fixture.runtime().create(fixture.spec(id, number));
            fixture.runtime().start(id);
        }
        own = fixture.spec("a", 2).address;
        other = fixture.spec("b", 3).address;
        gateway = options.subnet.substr(0, options.subnet.find('/'));
        port = open_port_of("a");
        other_port = open_port_of("b");
        host = std::make_unique<RawPort>(::getpid(), options.bridge);
    }

    std::unique_ptr<RawPort> open_port_of(const std::string& id) {
        return std::make_unique<RawPort>(fixture.runtime().inspect(id)->init_pid, "eth0");
    }
    std::string device(const std::string& id) {
        return read_file(fixture.container(id) / "config")
            .substr(read_file(fixture.container(id) / "config").find("lxc.net.0.veth.pair = ") + 22, 15);
    }
    std::string from_own(const std::string& target_mac, const std::string& packet) const {
        return ethernet(target_mac, mac_of(own), 0x0800, packet);
    }
    std::string to_gateway(const std::string& packet) const { return from_own(mac_of(gateway), packet); }
    std::string marked_udp(const std::string& from, const std::string& to) const {
        return ipv4(from, to, 17, udp(4000, open_port, mark));
    }

    // Whether a frame that the first guest sends comes to the bridge of the host, and to the other guest.
    bool reaches_host(const std::string& frame) {
        port->send(frame);
        return host->saw(mark, end_at_host());
    }
    bool reaches_other(const std::string& frame) {
        port->send(frame);
        host->saw(mark, end_at_host());
        const std::string end = next_end();
        host->send(
            ethernet(mac_of(other), mac_of(gateway), 0x0800, ipv4(gateway, other, 1, echo_request(end))));
        return other_port->saw(mark, end);
    }
    bool reaches_anybody(const std::string& frame) { return reaches_host(frame) || reaches_other(frame); }
    // The end of what the host takes from the first guest.
    std::string end_at_host() {
        const std::string end = next_end();
        port->send(to_gateway(ipv4(own, gateway, 1, echo_request(end))));
        return end;
    }
    std::string next_end() { return "end-" + std::to_string(++ends) + "."; }

    // Whether a datagram in such a frame reaches the closed service of the host.
    bool is_served(const std::string& frame) {
        port->send(frame);
        const std::string end = next_end();
        port->send(to_gateway(ipv4(own, gateway, 17, udp(4000, open_port, end))));
        REQUIRE(eventually([&] { return datagram(open_service.get()) == end; }));
        return datagram(closed_service.get()) == mark;
    }

    LxcFixture fixture;
    std::string own, other, gateway;
    std::uint16_t open_port = 0, closed_port = 0;
    FileDescriptor open_service, closed_service;
    std::unique_ptr<RawPort> port, other_port, host;
    int ends = 0;
};

// A TCP socket of the namespace of process `pid`, on its way to an address.
FileDescriptor connecting(int pid, const std::string& address, std::uint16_t port) {
    FileDescriptor socket;
    std::thread([&] {
        const FileDescriptor space = open_file("/proc/" + std::to_string(pid) + "/ns/net", O_RDONLY);
        if (::setns(space.get(), CLONE_NEWNET) != 0) return;
        socket = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    }).join();
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &target.sin_addr);
    ::connect(socket.get(), reinterpret_cast<sockaddr*>(&target), sizeof target);
    return socket;
}

bool is_connected(const FileDescriptor& socket, std::chrono::milliseconds limit = 0ms) {
    pollfd entry{socket.get(), POLLOUT, 0};
    if (::poll(&entry, 1, static_cast<int>(limit.count())) <= 0) return false;
    int failure = 0;
    socklen_t size = sizeof failure;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
    return failure == 0;
}

FileDescriptor tcp_service(std::uint16_t& port) {
    FileDescriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));  // [::] takes IPv4 as well
    sockaddr_in6 own{};
    own.sin6_family = AF_INET6;
    own.sin6_port = htons(port);
    socklen_t size = sizeof own;
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), size) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0 ||
        ::listen(socket.get(), 500) != 0)
        throw system_error("cannot listen", errno);
    port = ntohs(own.sin6_port);
    return socket;
}

}  // namespace

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

TEST_CASE("of the host a guest reaches the ports that it may, by any of its addresses, and nothing else") {
    TwoGuests world;
    LxcRuntime& runtime = world.fixture.runtime();
    const int pid = runtime.inspect("a")->init_pid;
    const std::string bridge = world.fixture.options().bridge;
    const std::string node = runtime.capacity().address;
    std::uint16_t open = world.open_port, closed = world.closed_port;
    const FileDescriptor open_service = tcp_service(open), closed_service = tcp_service(closed);
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
    std::uint16_t open = world.open_port;
    const FileDescriptor service = tcp_service(open);
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
