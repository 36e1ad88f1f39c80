// The instances' network over two machines.
#include <catch2/catch.hpp>

#include "tests/system/two_machines.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

// A service in a namespace, on a free port.
struct SpaceService {
    explicit SpaceService(const Space& space) {
        std::thread([&] {
            const FileDescriptor target =
                open_file("/proc/" + std::to_string(space.pid()) + "/ns/net", O_RDONLY);
            if (::setns(target.get(), CLONE_NEWNET) == 0) service = std::make_unique<HostService>();
        }).join();
        if (!service) throw Error(ErrorCode::internal, "no service in the namespace");
    }
    // Who spoke last to it, as a text.
    std::string caller() const {
        sockaddr_in6 from{};
        socklen_t size = sizeof from;
        const FileDescriptor taken(
            ::accept4(service->stream.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC));
        std::array<char, INET6_ADDRSTRLEN> text{};
        if (!taken || ::inet_ntop(AF_INET6, &from.sin6_addr, text.data(), text.size()) == nullptr) return "";
        return text.data();
    }
    bool took(std::string_view mark) const { return datagram(service->datagrams.get()) == mark; }
    std::unique_ptr<HostService> service;
};

bool reaches(const Space& from, const std::string& address, std::uint16_t port,
             std::chrono::milliseconds limit) {
    return is_connected(connecting(from.pid(), address, port), limit);
}

std::string routes_of_ours(const Space& machine) {
    return machine.shell("ip route show proto 115");
}

}  // namespace

TEST_CASE("instances of two machines reach each other under their own addresses where they may") {
    TwoMachines world(false);
    const SpaceService service(world.b.guest);
    CHECK(reaches(world.a.guest, world.b.guest_address, service.service->port, patience));
    CHECK(service.caller() == "::ffff:" + world.a.guest_address);
    CHECK(world.b.guest.run("busybox ping -c 1 -W 20 " + world.a.guest_address).status.code == 0);
}

TEST_CASE("isolated instances of two machines do not reach each other") {
    TwoMachines world(true);
    const SpaceService service(world.b.guest);
    const FileDescriptor refused =
        connecting(world.a.guest.pid(), world.b.guest_address, service.service->port);
    SECTION("as both machines want it") {}
    SECTION("as the other machine wants it") {
        world.a.program->kill();
        world.a.start(false, {world.b.as_peer()});
    }
    CHECK(reaches(world.b.space, world.b.guest_address, service.service->port, patience));
    CHECK_FALSE(reaches(world.a.guest, world.b.guest_address, service.service->port, 300ms));
    CHECK_FALSE(is_connected(refused));
}

TEST_CASE("services of another machine are closed to instances, its node ports are not") {
    TwoMachines world(false);
    const SpaceService service(world.b.space), guest_service(world.b.guest);
    const std::uint16_t port = service.service->port;
    REQUIRE(reaches(world.a.space, world.b.address, port, patience));
    for (const std::string& address : {world.b.address, world.b.gateway}) {
        INFO(address);
        CHECK_FALSE(reaches(world.a.guest, address, port, 300ms));
    }
    world.b.program->tell(Json::object({{"forward", guest_service.service->port}}));
    CHECK(reaches(world.a.guest, world.b.address, 10950, patience));
    CHECK(reaches(world.a.space, world.b.address, 10950, patience));
}

TEST_CASE("the other machine refuses guests also where theirs does not") {
    TwoMachines world(false);
    const SpaceService service(world.b.space);
    REQUIRE(reaches(world.a.space, world.b.gateway, service.service->port, patience));
    world.a.program->kill();
    world.a.space.shell("nft delete table inet svc_svcbr0; nft delete table bridge svc_svcbr0");
    CHECK_FALSE(reaches(world.a.guest, world.b.address, service.service->port, 300ms));
    CHECK_FALSE(reaches(world.a.guest, world.b.gateway, service.service->port, 300ms));
}

TEST_CASE("a packet of another machine's instances is taken from the way to that machine alone") {
    TwoMachines world(false);
    const SpaceService service(world.b.guest);
    const std::uint16_t port = service.service->port;
    const RawPort of_a(world.a.guest.pid(), "eth0");
    const auto sent = [&](const std::string& source, const std::string& mark_text) {
        of_a.send(ethernet(mac_of(world.a.gateway), mac_of(world.a.guest_address), 0x0800,
                           ipv4(source, world.b.guest_address, 17, udp(4000, port, mark_text))));
    };
    for (const std::string& source : {world.b.guest_address, std::string("198.18.4.77"), world.b.address})
        sent(source, mark);
    sent(world.a.guest_address, "honest");
    CHECK(eventually([&] { return service.took("honest"); }));  // and nothing came before it
    // A neighbour of the machine on another network of it.
    Space stranger_space;
    world.b.space.shell("ip link add eth1 type veth peer name eth0 netns " +
                        std::to_string(stranger_space.pid()) +
                        "; ip addr add 203.0.113.1/24 dev eth1; ip link set eth1 up");
    stranger_space.shell("ip addr add 203.0.113.2/24 dev eth0; ip addr add " + world.a.guest_address +
                         "/32 dev lo; ip link set eth0 up; ip route add default via 203.0.113.1");
    CHECK(reaches(stranger_space, world.b.guest_address, port, patience));
    stranger_space.shell("ip route replace default via 203.0.113.1 src " + world.a.guest_address);
    CHECK_FALSE(reaches(stranger_space, world.b.guest_address, port, 300ms));
}

TEST_CASE("routes come and go with the machines, and others' stay") {
    TwoMachines world(false);
    world.a.space.shell("ip route add 198.18.99.0/24 via 192.0.2.77 proto 115 metric 7");
    const std::string foreign = "198.18.99.0/24 via 192.0.2.77 dev eth0 metric 7 \n";
    const auto has_route = [&] {
        return routes_of_ours(world.a.space).find("198.18.8.0/24 via 192.0.2.2 dev eth0") == 0;
    };
    CHECK(has_route());
    world.a.program->tell(Json::object({{"peers", JsonArray{}}}));
    CHECK(routes_of_ours(world.a.space) == foreign);
    world.a.program->tell(Json::object({{"peers", JsonArray{world.b.as_peer()}}}));
    CHECK(has_route());
    world.a.space.shell("ip link set eth0 down; ip link set eth0 up");
    CHECK_FALSE(has_route());
    world.a.program->tell(Json::object({{"peers", JsonArray{world.b.as_peer()}}}));
    CHECK(has_route());

    world.a.program->kill();
    CHECK(has_route());
    world.a.start(false, {});  // the next one knows of no other machine
    CHECK(routes_of_ours(world.a.space).find("198.18.8.0") == std::string::npos);
    world.a.program->tell(Json::object({{"peers", JsonArray{world.b.as_peer()}}}));
    world.a.program->tell(Json::object({{"tear_down", true}}));
    CHECK(routes_of_ours(world.a.space).find("198.18.8.0") == std::string::npos);
    CHECK(world.a.space.run("ip link show svcbr0").status.code != 0);
}
