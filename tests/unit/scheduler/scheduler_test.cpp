#include "libsvc/scheduler/scheduler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>

namespace svc {
namespace {

constexpr double gib_of = 1024.0 * 1024 * 1024;

NodeCapacity node(const std::string& name) {
    NodeCapacity node;
    node.name = name;
    node.architecture = "x86_64";
    node.total = {
        .cpus = 8, .memory = 16 * gib_of, .disk = 100 * gib_of, .gpu_slots = 2, .gpu_encoder_slots = 1};
    node.free_addresses = 100;
    node.free_ports = 100;
    return node;
}

PlacementRequest request(double cpus = 2, double memory = 3 * gib_of, double disk = 3 * gib_of) {
    PlacementRequest request;
    request.needs = {.cpus = cpus, .memory = memory, .disk = disk};
    return request;
}

std::string placed(const PlacementRequest& request, const std::vector<NodeCapacity>& nodes,
                   Strategy strategy = Strategy::spread) {
    const auto result = place(request, nodes, strategy);
    const auto* placement = std::get_if<Placement>(&result);
    return placement != nullptr ? placement->node : "";
}

std::string refused(const PlacementRequest& request, const std::vector<NodeCapacity>& nodes) {
    const auto result = place(request, nodes, Strategy::spread);
    const auto* none = std::get_if<NoPlacement>(&result);
    return none != nullptr ? none->reason : "";
}

const std::string no_node = "No suitable node to satisfy container requirement available ";

TEST_CASE("spread takes the node with the largest free share, binpack the smallest") {
    std::vector<NodeCapacity> nodes{node("a"), node("b"), node("c")};
    nodes[0].used.memory = 4 * gib_of;
    nodes[2].used.cpus = 5;
    CHECK(placed(request(), nodes, Strategy::spread) == "b");
    CHECK(placed(request(), nodes, Strategy::binpack) == "c");
}

TEST_CASE("binpack goes to the next node when the most used one is full") {
    std::vector<NodeCapacity> nodes{node("a"), node("b")};
    nodes[1].used.cpus = 7;
    CHECK(placed(request(1), nodes, Strategy::binpack) == "b");
    CHECK(placed(request(2), nodes, Strategy::binpack) == "a");
}

TEST_CASE("equal nodes are told apart by their instances, then by name") {
    const Strategy strategy = GENERATE(Strategy::spread, Strategy::binpack);
    std::vector<NodeCapacity> nodes{node("c"), node("b"), node("a")};
    CHECK(placed(request(), nodes, strategy) == "a");
    nodes[2].instances = 2;
    nodes[1].instances = 1;
    nodes[0].instances = 1;
    CHECK(placed(request(), nodes, strategy) == "b");
}

TEST_CASE("the score is the mean free share after placing") {
    NodeCapacity half = node("a");
    half.used = {.cpus = 2, .memory = 5 * gib_of, .disk = 47 * gib_of};
    CHECK(score(request(), half) == Approx(0.5));
    PlacementRequest with_gpu = request();
    with_gpu.needs.gpu_slots = 2;
    CHECK(score(with_gpu, half) == Approx(0.375));
}

TEST_CASE("a node must be online, schedulable, of the architecture, and carry every tag") {
    NodeCapacity other = node("n");
    PlacementRequest wanted = request();
    SECTION("offline") {
        other.online = false;
        CHECK(shortage(wanted, other) == "not online");
    }
    SECTION("unschedulable") {
        other.schedulable = false;
        CHECK(shortage(wanted, other) == "unschedulable");
    }
    SECTION("architecture") {
        wanted.architecture = "aarch64";
        CHECK(shortage(wanted, other) == "architecture is x86_64, not aarch64");
    }
    SECTION("binder, for an Android guest") {
        other.android_fault = "the kernel has no binder";
        CHECK(shortage(wanted, other).empty());
        wanted.android = true;
        CHECK(shortage(wanted, other) == "runs no Android guests: the kernel has no binder");
    }
    SECTION("tags") {
        other.tags = {"zone=1", "ssd"};
        wanted.selector = {"ssd", "zone=1"};
        CHECK(shortage(wanted, other).empty());
        wanted.selector.push_back("zone");
        CHECK(shortage(wanted, other) == "no tag 'zone'");
    }
    CHECK(placed(wanted, {other}).empty());
}

TEST_CASE("slots must be of the type of GPU that is asked for") {
    NodeCapacity intel = node("a");
    intel.gpu_types = {"intel"};
    PlacementRequest wanted = request();
    wanted.gpu_type = "amd";
    CHECK(shortage(wanted, intel).empty());  // it needs no slot
    SECTION("a slot") {
        wanted.needs.gpu_slots = 1;
    }
    SECTION("an encoder slot") {
        wanted.needs.gpu_encoder_slots = 1;
    }
    CHECK(shortage(wanted, intel) == "no gpu of type amd");
    wanted.gpu_type = "intel";
    CHECK(shortage(wanted, intel).empty());
}

TEST_CASE("a shortage names every resource and is rounded up") {
    const PlacementRequest wanted = [] {
        PlacementRequest wanted = request(9.25, 17.5 * gib_of, 101 * gib_of);
        wanted.needs.gpu_slots = 3;
        wanted.needs.gpu_encoder_slots = 2;
        wanted.ports = 101;
        return wanted;
    }();
    NodeCapacity full = node("n");
    full.free_addresses = 0;
    CHECK(shortage(wanted, full) ==
          "cpus short by 1.25, memory short by 2GB, disk short by 1GB, gpu slots short by 1, "
          "gpu encoder slots short by 1, no free address, node ports short by 1");
}

TEST_CASE("sizes of shortages use the largest unit below 1024") {
    const auto [bytes, text] = GENERATE(table<double, std::string>({{1, "1B"},
                                                                    {1023, "1023B"},
                                                                    {1024, "1kB"},
                                                                    {1025, "2kB"},
                                                                    {1023.5 * 1024, "1MB"},
                                                                    {3 * gib_of, "3GB"},
                                                                    {1024 * gib_of, "1TB"}}));
    CHECK(shortage(request(0, 16 * gib_of + bytes), node("n")) == "memory short by " + text);
}

TEST_CASE("the reason names the nodes, at most ten of them") {
    std::vector<NodeCapacity> nodes{node("node0"), node("node1")};
    nodes[1].online = false;
    CHECK(refused(request(1, 18 * gib_of), nodes) ==
          no_node + "(node0: memory short by 2GB; node1: not online)");
    nodes.assign(12, nodes[1]);
    const std::string reason = refused(request(), nodes);
    CHECK(reason.ends_with("node1: not online; 2 more)"));
    CHECK(std::count(reason.begin(), reason.end(), ';') == 10);
    CHECK(refused(request(), {}) == no_node + "(no nodes)");
}

TEST_CASE("a named node is the only candidate") {
    std::vector<NodeCapacity> nodes{node("a"), node("b")};
    nodes[1].used.cpus = 4;
    PlacementRequest wanted = request();
    wanted.node = "b";
    CHECK(placed(wanted, nodes) == "b");
    wanted.needs.cpus = 5;
    CHECK(refused(wanted, nodes) == no_node + "(b: cpus short by 1)");
    wanted.node = "z";
    CHECK(refused(wanted, nodes) == no_node + "(no node 'z')");
}

TEST_CASE("what is not asked for is no obstacle on an overcommitted node") {
    NodeCapacity shrunk = node("n");
    shrunk.used.gpu_slots = 5;
    shrunk.used.cpus = 9;
    CHECK(shortage(request(0), shrunk).empty());
    CHECK(shortage(request(1), shrunk) == "cpus short by 2");
}

TEST_CASE("fractions of processors fill a node exactly") {
    NodeCapacity small = node("n");
    small.total.cpus = 0.3;
    for (int i = 0; i < 3; ++i) {
        REQUIRE(shortage(request(0.1, 0, 0), small).empty());
        small.used.cpus += 0.1;
    }
    CHECK(shortage(request(0.1, 0, 0), small) == "cpus short by 0.1");
}

TEST_CASE("amounts that are no numbers never fit") {
    CHECK(placed(request(std::numeric_limits<double>::quiet_NaN()), {node("n")}).empty());
    CHECK(placed(request(std::numeric_limits<double>::infinity()), {node("n")}).empty());
}

PlacementRequest random_request_scheduler(std::mt19937& random) {
    const auto below = [&](unsigned n) { return static_cast<double>(random() % n); };
    PlacementRequest request;
    request.needs = {.cpus = below(9) / 2, .memory = below(9) * gib_of, .disk = below(50) * gib_of};
    request.needs.gpu_slots = below(2);
    request.ports = random() % 20;
    if (random() % 4 == 0) request.selector = {"ssd"};
    return request;
}

std::vector<NodeCapacity> random_nodes(std::mt19937& random) {
    std::vector<NodeCapacity> nodes;
    for (unsigned i = 0; i <= random() % 6; ++i) {
        nodes.push_back(node("node" + std::to_string(i)));
        nodes.back().online = random() % 8 != 0;
        if (random() % 2 == 0) nodes.back().tags = {"ssd"};
        nodes.back().total.cpus = 1 + random() % 32;
        nodes.back().total.memory = static_cast<double>(1 + random() % 64) * gib_of;
    }
    return nodes;
}

void reserve(const PlacementRequest& request, NodeCapacity& node) {
    node.used.cpus += request.needs.cpus;
    node.used.memory += request.needs.memory;
    node.used.disk += request.needs.disk;
    node.used.gpu_slots += request.needs.gpu_slots;
    node.free_ports -= request.ports;
    node.free_addresses -= 1;
    node.instances += 1;
}

bool oversubscribed(const NodeCapacity& node) {
    return node.used.cpus > node.total.cpus || node.used.memory > node.total.memory ||
           node.used.disk > node.total.disk || node.used.gpu_slots > node.total.gpu_slots ||
           node.free_ports > 100 || node.free_addresses > 100;  // unsigned: below 0 is huge
}

TEST_CASE("random placements never oversubscribe, and are refused only when nobody fits") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const Strategy strategy = round % 2 == 0 ? Strategy::spread : Strategy::binpack;
        std::vector<NodeCapacity> nodes = random_nodes(random);
        for (int i = 0; i < 60; ++i) {
            const PlacementRequest wanted = random_request_scheduler(random);
            const std::string name = placed(wanted, nodes, strategy);
            const bool anyone = std::any_of(nodes.begin(), nodes.end(),
                                            [&](const auto& node) { return shortage(wanted, node).empty(); });
            REQUIRE(anyone == !name.empty());
            if (!anyone) continue;
            auto& chosen =
                *std::find_if(nodes.begin(), nodes.end(), [&](auto& node) { return node.name == name; });
            REQUIRE(chosen.online);
            reserve(wanted, chosen);
            REQUIRE_FALSE(oversubscribed(chosen));
        }
    }
}

TEST_CASE("no node that fits has a better score than the chosen one, in whatever order they come") {
    std::mt19937 random(11);
    for (int round = 0; round < 500; ++round) {
        std::vector<NodeCapacity> nodes = random_nodes(random);
        const PlacementRequest wanted = random_request_scheduler(random);
        const std::string spread = placed(wanted, nodes, Strategy::spread);
        const std::string binpack = placed(wanted, nodes, Strategy::binpack);
        std::shuffle(nodes.begin(), nodes.end(), random);
        REQUIRE(placed(wanted, nodes, Strategy::spread) == spread);
        REQUIRE(placed(wanted, nodes, Strategy::binpack) == binpack);
        const auto score_of = [&](const std::string& name) {
            const auto found =
                std::find_if(nodes.begin(), nodes.end(), [&](auto& node) { return node.name == name; });
            return score(wanted, *found);
        };
        for (const auto& node : nodes) {
            if (!shortage(wanted, node).empty()) continue;
            REQUIRE(score(wanted, node) <= score_of(spread) + 1e-8);
            REQUIRE(score(wanted, node) >= score_of(binpack) - 1e-8);
        }
    }
}

}  // namespace
}  // namespace svc
