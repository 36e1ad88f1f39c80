#pragma once
// Placement: pure functions over what nodes have and what is reserved on them (facts: Scheduling).
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace svc {

enum class Strategy { spread, binpack };

// Amounts reserved or offered. Units: cpus as counted by the scheduler (overcommitted), bytes, slots.
struct Amounts {
    double cpus = 0;
    double memory = 0;
    double disk = 0;
    double gpu_slots = 0;
    double gpu_encoder_slots = 0;
};

struct NodeCapacity {
    std::string name;
    std::string architecture;
    std::vector<std::string> tags;
    std::vector<std::string> gpu_types;  // of the GPUs its slots are of
    bool online = true;
    bool schedulable = true;
    Amounts total;  // cpus and memory already multiplied by the allocation rates
    Amounts used;
    std::uint64_t instances = 0;
    std::uint64_t free_addresses = 0;
    std::uint64_t free_ports = 0;
};

struct PlacementRequest {
    Amounts needs;
    std::uint64_t ports = 0;
    std::string architecture;           // "": any
    std::vector<std::string> selector;  // all must be among the node's tags
    std::string node;                   // "": any; else this one alone
    std::string gpu_type;               // of the slots it needs; "": any
};

struct Placement {
    std::string node;
};
// Why nobody fits: the text of the failed operation, each node with what was short on it.
struct NoPlacement {
    std::string
        reason;  // "No suitable node to satisfy container requirement available (node0: memory short by 2GB)"
};

std::variant<Placement, NoPlacement> place(const PlacementRequest& request,
                                           std::span<const NodeCapacity> nodes, Strategy strategy);

// One node's answer, empty when it fits: "memory short by 2GB".
std::string shortage(const PlacementRequest& request, const NodeCapacity& node);
// Mean free share after placing, 0..1.
double score(const PlacementRequest& request, const NodeCapacity& node);

}  // namespace svc
