#pragma once
// Worker nodes (specification: Worker nodes; facts 2).
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc {

enum class NodeStatus { error = -1, unknown = 0, created = 1, initializing = 2, initialized = 3, online = 4, offline = 5, deleted = 6 };
std::string_view to_text(NodeStatus status);

struct Node {
    std::string name;
    std::string address;
    std::string public_address;
    std::uint32_t bridge_mtu = 1500;
    int cpus = 0;  // detected
    int configured_cpus = 0;  // 0: all
    double cpu_allocation_rate = 4;
    std::uint64_t memory = 0;  // bytes, detected
    std::uint64_t configured_memory = 0;  // 0: all
    double memory_allocation_rate = 2;
    NodeStatus status = NodeStatus::online;
    bool is_master = true;
    std::uint64_t disk_size = 0;  // bytes
    int gpu_slots = 0;
    int gpu_encoder_slots = 0;
    std::vector<std::string> tags;
    bool unschedulable = false;
    std::string architecture;
    std::string storage_pool = "svc0";
    bool managed = true;
    std::string subnet;
    std::string runtime;             // extension: "lxc", "simulated"
    bool disk_limit_enforced = false;  // extension
    Json details;                    // extension
};

Json to_json(const Node& node);
Json node_to_store(const Node& node);
Node node_from_store(const Json& stored);

}  // namespace svc
