#pragma once
// Worker nodes (specification: Worker nodes; docs/management.md, "Nodes").
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc {

enum class NodeStatus {
    error = -1,
    unknown = 0,
    created = 1,
    initializing = 2,
    initialized = 3,
    online = 4,
    offline = 5,
    deleted = 6,
    evacuated = 7  // extension: it answers, and takes nothing
};
std::string_view to_text(NodeStatus status);

struct Gpu {
    int id = 0;
    std::string type;         // "nvidia", "amd", "intel"
    std::string pci_address;  // "00:08.0"
    std::string render_name;  // "D128"
    int slots = 0;
    int encoder_slots = 0;
    int numa_node = -1;  // -1: not known
};

struct Node {
    std::string name;
    std::string address;
    std::string public_address;
    std::uint32_t bridge_mtu = 1500;
    int cpus = 0;             // detected
    int configured_cpus = 0;  // 0: all
    double cpu_allocation_rate = 4;
    std::uint64_t memory = 0;             // bytes, detected
    std::uint64_t configured_memory = 0;  // 0: all
    double memory_allocation_rate = 2;
    NodeStatus status = NodeStatus::online;
    bool is_master = true;
    std::uint64_t disk_size = 0;  // bytes
    int gpu_slots = 0;            // of all its GPUs; a plain number where no GPU was detected
    int gpu_encoder_slots = 0;
    bool gpu_slots_set = false;  // a user chose the two; else they follow from gpu.type
    std::vector<Gpu> gpus;
    std::vector<std::string> tags;
    bool unschedulable = false;
    bool evacuated = false;  // on request, until it is schedulable again
    std::string architecture;
    std::string storage_pool = "svc0";
    std::string storage_device;  // of its part of the pool, as asked for; "": what its own manager says
    bool managed = true;
    std::string subnet;
    std::string runtime;               // extension: "lxc", "simulated"
    bool disk_limit_enforced = false;  // extension
    std::string android_fault;         // why it runs no Android guests; "": it does, as far as is known
    Json details;                      // extension
};

// Slots of one GPU that one instance holds: an entry of `allocations` of the record.
struct GpuAllocation {
    std::string instance;
    int gpu = 0;
    int slots = 0, encoder_slots = 0;
};

Json to_json(const Node& node, const std::vector<GpuAllocation>& allocations = {});
Json node_to_store(const Node& node);
Node node_from_store(const Json& stored);
std::string etag_text(const Node& node);  // the fields of PATCH

// Body of PATCH (specification: Node update field). from_json checks types and ranges and throws
// invalid_argument.
struct NodePatch {
    std::optional<std::string> public_address;
    std::optional<int> cpus;  // 0: all
    std::optional<double> cpu_allocation_rate, memory_allocation_rate;
    std::optional<std::uint64_t> memory;  // bytes; 0: all
    std::optional<int> gpu_slots, gpu_encoder_slots;
    std::optional<std::vector<std::string>> tags;  // array, or comma-separated text
    std::optional<bool> unschedulable;             // `unscheduable` leads when both are given
    struct GpuSlots {
        int id = 0;
        std::optional<int> slots, encoder_slots;
    };
    std::vector<GpuSlots> gpus;
    static NodePatch from_json(const Json& body);
};

// Body of POST. from_json checks all that needs no other object, and throws invalid_argument.
struct NodeCreate {
    std::string name, address, public_address, trust_password, trust_token;
    std::uint32_t bridge_mtu = 1500;
    std::string storage_device, storage_pool, network_name = "svcbr0", network_subnet = "192.168.100.1/20";
    int cpus = 0;
    double cpu_allocation_rate = 4, memory_allocation_rate = 2;
    std::uint64_t memory = 0;
    std::optional<int> gpu_slots, gpu_encoder_slots;
    std::vector<std::string> tags;
    bool unmanaged = false;
    static NodeCreate from_json(const Json& body);
};

// Body of DELETE.
struct NodeRemoval {
    bool force = false;
    bool keep_in_cluster = false;
    static NodeRemoval from_json(const Json& body);
};

}  // namespace svc
