#pragma once
// Placement of instances on nodes: pure functions over what nodes have and what is reserved on them
// (docs/management.md, "Placement").
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
    std::vector<std::string> gpu_types;  // types of its GPUs
    bool online = true;
    bool schedulable = true;
    std::string android_fault;  // why it runs no Android guests; "": it does
    Amounts total;              // cpus and memory already multiplied by the allocation rates
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
    std::string node;                   // "": any; else only this one
    std::string gpu_type;               // type of the GPU whose slots it needs; "": any
    bool android = false;               // the guest is Android
};

struct Placement {
    std::string node;
};
// Why no node fits: the text of the failed operation, with what each node is short of.
struct NoPlacement {
    std::string
        reason;  // "No suitable node to satisfy container requirement available (node0: memory short by 2GB)"
};

std::variant<Placement, NoPlacement> place(const PlacementRequest& request,
                                           std::span<const NodeCapacity> nodes, Strategy strategy);

// What the node is short of: "memory short by 2GB"; empty when the request fits.
std::string shortage(const PlacementRequest& request, const NodeCapacity& node);
// The mean free share after the placement, 0 to 1.
double score(const PlacementRequest& request, const NodeCapacity& node);

}  // namespace svc
