#include "libsvc/scheduler/node_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace svc {
namespace {

constexpr double table_gib = 1024.0 * 1024 * 1024;

NodeCapacity random_node(std::mt19937& random, unsigned number) {
    constexpr std::array cpus{4.0, 16.0, 30.4};
    NodeCapacity node;
    node.name = "node" + std::to_string(number);
    node.architecture = random() % 8 == 0 ? "aarch64" : "x86_64";
    node.online = random() % 16 != 0;
    node.schedulable = random() % 16 != 0;
    if (random() % 2 == 0) node.tags = {"ssd"};
    const unsigned size = static_cast<unsigned>(random() % cpus.size());
    node.total = {.cpus = cpus[size], .memory = (4.0 + size * 13) * table_gib, .disk = 100 * table_gib};
    if (random() % 3 == 0) {
        node.total.gpu_slots = node.total.gpu_encoder_slots = 8;
        node.gpu_types = {random() % 2 == 0 ? "intel" : "amd"};
    }
    node.free_addresses = 30 + random() % 10;
    node.free_ports = 20;
    return node;
}

PlacementRequest random_request_node_table(std::mt19937& random) {
    const auto below = [&](unsigned n) { return static_cast<double>(random() % n); };
    PlacementRequest request;
    request.needs = {.cpus = below(8) / 10, .memory = below(3) * table_gib / 3, .disk = below(4) * table_gib};
    if (random() % 4 == 0) request.needs.gpu_slots = 1 + below(2);
    if (random() % 8 == 0) request.needs.gpu_encoder_slots = 1;
    if (random() % 8 == 0) request.gpu_type = "intel";
    if (random() % 4 == 0) request.selector = {"ssd"};
    if (random() % 4 == 0) request.architecture = "x86_64";
    if (random() % 8 == 0) request.node = "node" + std::to_string(random() % 50);
    request.ports = random() % 3;
    return request;
}

struct Reserved {
    PlacementRequest request;
    std::string node;
};

// The table beside plain nodes that every placement looks at.
class Cluster {
  public:
    Cluster(Strategy strategy, std::mt19937& random, unsigned count)
        : nodes_(make(random, count)), table_(strategy, nodes_) {}

    // The node's name; "" when both say that there is none, with the same words.
    std::string place(const PlacementRequest& request) {
        const auto wanted = svc::place(request, nodes_, table_.strategy());
        const auto placed = table_.place(request);
        if (const auto* none = std::get_if<NoPlacement>(&wanted)) {
            REQUIRE(std::holds_alternative<NoPlacement>(placed));
            CHECK(std::get<NoPlacement>(placed).reason == none->reason);
            return "";
        }
        REQUIRE(std::holds_alternative<Placement>(placed));
        REQUIRE(std::get<Placement>(placed).node == std::get<Placement>(wanted).node);
        return std::get<Placement>(placed).node;
    }
    void reserve(const Reserved& reserved, int sign) {
        const auto node = std::ranges::find(nodes_, reserved.node, &NodeCapacity::name);
        const Amounts& needs = reserved.request.needs;
        node->used.cpus += sign * needs.cpus;
        node->used.memory += sign * needs.memory;
        node->used.disk += sign * needs.disk;
        node->used.gpu_slots += sign * needs.gpu_slots;
        node->used.gpu_encoder_slots += sign * needs.gpu_encoder_slots;
        node->instances += static_cast<std::uint64_t>(sign);
        node->free_addresses -= static_cast<std::uint64_t>(sign);
        node->free_ports -= static_cast<std::uint64_t>(sign) * reserved.request.ports;
        table_.set_usage(node->name, {node->used, node->instances, node->free_addresses, node->free_ports});
    }

  private:
    static std::vector<NodeCapacity> make(std::mt19937& random, unsigned count) {
        std::vector<NodeCapacity> nodes;
        for (unsigned i = 0; i < count; ++i) nodes.push_back(random_node(random, i));
        std::ranges::sort(nodes, {}, &NodeCapacity::name);
        return nodes;
    }
    std::vector<NodeCapacity> nodes_;
    NodeTable table_;
};

TEST_CASE("a table places as a look at every node does, while instances come and go") {
    const Strategy strategy = GENERATE(Strategy::spread, Strategy::binpack);
    std::mt19937 random(5);
    for (const unsigned count : {1U, 7U, 40U, 200U}) {
        Cluster cluster(strategy, random, count);
        std::vector<Reserved> reserved;
        int refused = 0;
        for (unsigned i = 0; i < count * 60; ++i) {
            if (!reserved.empty() && random() % 4 == 0) {
                std::swap(reserved[random() % reserved.size()], reserved.back());
                cluster.reserve(reserved.back(), -1);
                reserved.pop_back();
                continue;
            }
            const PlacementRequest request = random_request_node_table(random);
            const std::string node = cluster.place(request);
            refused += node.empty() ? 1 : 0;
            if (!node.empty()) cluster.reserve(reserved.emplace_back(Reserved{request, node}), 1);
        }
        CHECK(refused > 0);
        CHECK(reserved.size() > count);
    }
}

TEST_CASE("a table without nodes refuses, and usage of an unknown node is nothing") {
    NodeTable table(Strategy::spread, {});
    table.set_usage("node0", {});
    CHECK(std::get<NoPlacement>(table.place({})).reason ==
          "No suitable node to satisfy container requirement available (no nodes)");
}

TEST_CASE("fractions of processors fill the nodes of a table exactly") {
    NodeCapacity node;
    node.name = "n";
    node.total = {.cpus = 0.3, .memory = table_gib, .disk = table_gib};
    node.free_addresses = 10;
    NodeTable table(Strategy::binpack, {node});
    PlacementRequest request;
    request.needs.cpus = 0.1;
    NodeUsage usage{.free_addresses = 10};
    for (int i = 0; i < 3; ++i) {
        REQUIRE(std::holds_alternative<Placement>(table.place(request)));
        usage.used.cpus += 0.1;
        table.set_usage("n", usage);
    }
    CHECK(std::holds_alternative<NoPlacement>(table.place(request)));
}

}  // namespace
}  // namespace svc
