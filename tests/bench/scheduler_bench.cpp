// Placements a second on 1,000 nodes, against a look at every node, and how good they are. Both take turns on
// the same requests and must give the same answers. Prints a JSON object a line: see scheduler.py.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "libsvc/scheduler/node_table.h"

namespace {

using namespace svc;

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr std::size_t node_count = 1000;
constexpr std::size_t placement_count = 100'000;
constexpr int rounds = 3;

struct Case {
    const char* name;
    Strategy strategy;
    bool mixed;            // nodes of three sizes, some with GPUs and tags; else all the same
    std::size_t standing;  // instances at most: beyond them each placement is preceded by an end
};

NodeCapacity make_node(std::size_t number, bool mixed) {
    const double size = mixed ? std::pow(2.0, static_cast<double>(number % 3)) : 2;
    NodeCapacity node;
    node.name = fmt::format("node{:04}", number);
    node.architecture = "x86_64";
    node.total = {.cpus = 256 * size, .memory = 320 * gib * size, .disk = 1024 * gib * size};
    if (mixed && number % 5 == 0) {
        node.tags = {"gpu"};
        node.gpu_types = {"intel"};
        node.total.gpu_slots = node.total.gpu_encoder_slots = 32;
    }
    node.free_addresses = 4000;
    node.free_ports = 1000;
    return node;
}

std::vector<NodeCapacity> make_nodes(bool mixed) {
    std::vector<NodeCapacity> nodes;
    for (std::size_t i = 0; i < node_count; ++i) nodes.push_back(make_node(i, mixed));
    return nodes;
}

// The instance types of the product, small ones more often.
std::vector<PlacementRequest> make_requests(bool mixed) {
    std::mt19937 random(1);
    std::discrete_distribution<int> kinds({50, 25, 15, 10});
    std::vector<PlacementRequest> requests(placement_count);
    for (PlacementRequest& request : requests) {
        const int kind = kinds(random);
        request.needs = {.cpus = 2.0 + 2 * kind, .memory = 3 * gib, .disk = 3.0 * gib * (1 + kind % 2)};
        request.ports = static_cast<std::uint64_t>(kind);
        request.architecture = "x86_64";
        if (!mixed) continue;
        if (random() % 20 == 0) request.needs.gpu_slots = 1;
        if (random() % 20 == 0) request.selector = {"gpu"};
    }
    return requests;
}

void change(NodeCapacity& node, const PlacementRequest& request, int sign) {
    node.used.cpus += sign * request.needs.cpus;
    node.used.memory += sign * request.needs.memory;
    node.used.disk += sign * request.needs.disk;
    node.used.gpu_slots += sign * request.needs.gpu_slots;
    node.instances += static_cast<std::uint64_t>(sign);
    node.free_addresses -= static_cast<std::uint64_t>(sign);
    node.free_ports -= static_cast<std::uint64_t>(sign) * request.ports;
}

// Both sides keep the same plain nodes; `Chooser` places, and hears what has changed.
struct FullScan {
    const std::vector<NodeCapacity>& nodes;
    Strategy strategy;
    auto place(const PlacementRequest& request) const { return svc::place(request, nodes, strategy); }
    void changed(const NodeCapacity&) const {}
};

struct Indexed {
    NodeTable table;
    auto place(const PlacementRequest& request) const { return table.place(request); }
    void changed(const NodeCapacity& node) {
        table.set_usage(node.name, {node.used, node.instances, node.free_addresses, node.free_ports});
    }
};

struct Run {
    double seconds = 0;
    std::vector<int> answers;  // the number of the node; -1: none
    std::vector<NodeCapacity> nodes;
};

int number_of(const std::variant<Placement, NoPlacement>& placed) {
    const auto* const placement = std::get_if<Placement>(&placed);
    return placement == nullptr ? -1 : std::atoi(placement->node.c_str() + std::string_view("node").size());
}

template <class Chooser>
void place_all(Chooser& chooser, const Case& which, const std::vector<PlacementRequest>& requests, Run& run) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i >= which.standing && run.answers[i - which.standing] >= 0) {
            NodeCapacity& left = run.nodes[static_cast<std::size_t>(run.answers[i - which.standing])];
            change(left, requests[i - which.standing], -1);
            chooser.changed(left);
        }
        const int number = number_of(chooser.place(requests[i]));
        run.answers.push_back(number);
        if (number < 0) continue;
        NodeCapacity& node = run.nodes[static_cast<std::size_t>(number)];
        change(node, requests[i], 1);
        chooser.changed(node);
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Run scan(const Case& which, const std::vector<PlacementRequest>& requests) {
    Run run{.seconds = 0, .answers = {}, .nodes = make_nodes(which.mixed)};
    FullScan chooser{run.nodes, which.strategy};
    place_all(chooser, which, requests, run);
    return run;
}

Run indexed(const Case& which, const std::vector<PlacementRequest>& requests) {
    Run run{.seconds = 0, .answers = {}, .nodes = make_nodes(which.mixed)};
    Indexed chooser{NodeTable(which.strategy, run.nodes)};
    place_all(chooser, which, requests, run);
    return run;
}

// The same requests, each on any node that has room: what placing without a strategy gives.
Run at_random(const Case& which, const std::vector<PlacementRequest>& requests) {
    Run run{.seconds = 0, .answers = {}, .nodes = make_nodes(which.mixed)};
    std::mt19937 random(2);
    for (const PlacementRequest& request : requests)
        for (int attempt = 0; attempt < 100; ++attempt) {
            NodeCapacity& node = run.nodes[random() % run.nodes.size()];
            if (!shortage(request, node).empty()) continue;
            change(node, request, 1);
            break;
        }
    return run;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

std::vector<double> free_shares_of(const std::vector<NodeCapacity>& nodes) {
    std::vector<double> shares;
    for (const NodeCapacity& node : nodes) shares.push_back(score({}, node));
    return shares;
}

double deviation(const std::vector<double>& values) {
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size()));
}

double range(const std::vector<double>& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return most - least;
}

std::size_t nodes_used(const std::vector<NodeCapacity>& nodes) {
    return static_cast<std::size_t>(
        std::ranges::count_if(nodes, [](const NodeCapacity& node) { return node.instances > 0; }));
}

// No placement on equal nodes needs fewer: each resource alone fills so many.
std::size_t least_nodes(const std::vector<NodeCapacity>& nodes) {
    const auto filled = [&](double Amounts::*amount) {
        double sum = 0;
        for (const NodeCapacity& node : nodes) sum += node.used.*amount;
        return std::ceil(sum / (nodes.front().total.*amount));
    };
    return static_cast<std::size_t>(
        std::max({filled(&Amounts::cpus), filled(&Amounts::memory), filled(&Amounts::disk)}));
}

void print_speed(const Case& which, std::vector<double> ours, std::vector<double> theirs, long placed) {
    fmt::print("{{\"case\":\"{}\",\"placements\":{},\"placed\":{},\"ours\":{:.0f},\"scan\":{:.0f}}}\n",
               which.name, placement_count, placed, placement_count / median(std::move(ours)),
               placement_count / median(std::move(theirs)));
}

bool compare(const Case& which) {
    const auto requests = make_requests(which.mixed);
    std::vector<double> ours;
    std::vector<double> theirs;
    Run last;
    for (int round = 0; round < rounds; ++round) {
        last = indexed(which, requests);
        const Run baseline = scan(which, requests);
        if (last.answers != baseline.answers) {
            fmt::print(stderr, "{}: the answers differ from those of a full scan\n", which.name);
            return false;
        }
        ours.push_back(last.seconds);
        theirs.push_back(baseline.seconds);
    }
    const long refused = std::ranges::count(last.answers, -1);
    print_speed(which, ours, theirs, static_cast<long>(placement_count) - refused);
    return true;
}

void print_spread(const Case& which) {
    const auto requests = make_requests(which.mixed);
    const auto ours = free_shares_of(indexed(which, requests).nodes);
    const auto random = free_shares_of(at_random(which, requests).nodes);
    fmt::print(
        "{{\"quality\":\"spread\",\"deviation\":{:.6f},\"range\":{:.6f},\"random_deviation\":{:.6f},"
        "\"random_range\":{:.6f}}}\n",
        deviation(ours), range(ours), deviation(random), range(random));
}

void print_binpack(const Case& which) {
    auto requests = make_requests(which.mixed);
    requests.resize(placement_count / 2);  // the rest of the nodes is to stay empty
    const Run ours = indexed(which, requests);
    const Run random = at_random(which, requests);
    fmt::print("{{\"quality\":\"binpack\",\"nodes\":{},\"least\":{},\"random_nodes\":{}}}\n",
               nodes_used(ours.nodes), least_nodes(ours.nodes), nodes_used(random.nodes));
}

}  // namespace

int main() {
    const Case spread{"spread, equal nodes", Strategy::spread, false, placement_count};
    const Case binpack{"binpack, equal nodes", Strategy::binpack, false, placement_count};
    for (const Case& which :
         {spread, binpack, Case{"spread, mixed nodes", Strategy::spread, true, placement_count},
          Case{"binpack, mixed nodes", Strategy::binpack, true, placement_count},
          Case{"spread, ends and launches", Strategy::spread, true, 50'000},
          Case{"binpack, ends and launches", Strategy::binpack, true, 50'000}})
        if (!compare(which)) return EXIT_FAILURE;
    print_spread(spread);
    print_binpack(binpack);
    return EXIT_SUCCESS;
}
