#pragma once
// Worker nodes (specification: Worker nodes; facts 2).
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
    deleted = 6
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
    int gpu_slots = 0;            // of all its GPUs, or a bare number where none was detected
    int gpu_encoder_slots = 0;
    bool gpu_slots_set = false;  // the two are a user's choice, not what gpu.type stands for
    std::vector<Gpu> gpus;
    std::vector<std::string> tags;
    bool unschedulable = false;
    std::string architecture;
    std::string storage_pool = "svc0";
    bool managed = true;
    std::string subnet;
    std::string runtime;               // extension: "lxc", "simulated"
    bool disk_limit_enforced = false;  // extension
    Json details;                      // extension
};

// What one instance holds of one GPU: `allocations` of the record.
struct GpuAllocation {
    std::string instance;
    int gpu = 0;
    int slots = 0, encoder_slots = 0;
};

Json to_json(const Node& node, const std::vector<GpuAllocation>& allocations = {});
Json node_to_store(const Node& node);
Node node_from_store(const Json& stored);
std::string etag_text(const Node& node);  // the fields of PATCH

// Body of PATCH (specification: Node update field; facts 2.4). Everything checked for type and range.
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

// Body of POST (facts 2.2), checked as far as no other object is needed.
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
