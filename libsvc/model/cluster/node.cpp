#include "libsvc/model/cluster/node.h"

#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/model/values/size.h"

namespace svc {

namespace {

constexpr int node_schema = 1;

constexpr std::array<EnumName<NodeStatus>, 9> status_names{{{NodeStatus::error, "error"},
                                                            {NodeStatus::unknown, "unknown"},
                                                            {NodeStatus::created, "created"},
                                                            {NodeStatus::initializing, "initializing"},
                                                            {NodeStatus::initialized, "initialized"},
                                                            {NodeStatus::online, "online"},
                                                            {NodeStatus::offline, "offline"},
                                                            {NodeStatus::deleted, "deleted"},
                                                            {NodeStatus::evacuated, "evacuated"}}};

void read_addresses(const JsonFields& fields, Node& node) {
    node.name = fields.require_string("name");
    node.address = fields.string("address").value_or("");
    node.public_address = fields.string("public_address").value_or("");
    node.subnet = fields.string("subnet").value_or("");
    node.bridge_mtu = static_cast<std::uint32_t>(fields.integer("network_bridge_mtu").value_or(1500));
}

void read_capacity(const JsonFields& fields, Node& node) {
    const auto count = [&](std::string_view key) {
        return static_cast<int>(fields.integer(key).value_or(0));
    };
    const auto bytes = [&](std::string_view key) {
        return static_cast<std::uint64_t>(fields.integer(key).value_or(0));
    };
    node.cpus = count("cpus");
    node.configured_cpus = count("configured_cpus");
    node.cpu_allocation_rate = fields.number("cpu_allocation_rate").value_or(node.cpu_allocation_rate);
    node.memory = bytes("memory");
    node.configured_memory = bytes("configured_memory");
    node.memory_allocation_rate =
        fields.number("memory_allocation_rate").value_or(node.memory_allocation_rate);
    node.disk_size = bytes("disk_size");
    node.gpu_slots = count("gpu_slots");
    node.gpu_encoder_slots = count("gpu_encoder_slots");
}

Json allocations_json(int gpu, const std::vector<GpuAllocation>& allocations) {
    Json result = Json::object();
    for (const GpuAllocation& held : allocations)
        if (held.gpu == gpu)
            result.set(held.instance, Json::object({{"gpus", Json::array({gpu})},
                                                    {"slots", held.slots},
                                                    {"encoder_slots", held.encoder_slots}}));
    return result;
}

Json gpu_to_store(const Gpu& gpu) {
    return Json::object({{"id", gpu.id},
                         {"type", gpu.type},
                         {"pci_address", gpu.pci_address},
                         {"render_name", gpu.render_name},
                         {"slots", gpu.slots},
                         {"encoder_slots", gpu.encoder_slots},
                         {"numa_node", gpu.numa_node}});
}

Gpu gpu_from_store(const JsonFields& fields) {
    const auto number = [&](std::string_view key, int fallback) {
        return static_cast<int>(fields.integer(key).value_or(fallback));
    };
    Gpu gpu;
    gpu.id = static_cast<int>(fields.require_int("id"));
    gpu.type = fields.string("type").value_or("");
    gpu.pci_address = fields.string("pci_address").value_or("");
    gpu.render_name = fields.string("render_name").value_or("");
    gpu.slots = number("slots", 0);
    gpu.encoder_slots = number("encoder_slots", 0);
    gpu.numa_node = number("numa_node", -1);
    return gpu;
}

Json gpus_json(const Node& node, const std::vector<GpuAllocation>& allocations) {
    JsonArray result;
    for (const Gpu& gpu : node.gpus) {
        Json record = gpu_to_store(gpu);
        if (gpu.numa_node < 0) record.erase("numa_node");
        record.set("allocations", allocations_json(gpu.id, allocations));
        result.push_back(std::move(record));
    }
    return Json::array(std::move(result));
}

Json gpus_to_store(const Node& node) {
    JsonArray result;
    for (const Gpu& gpu : node.gpus) result.push_back(gpu_to_store(gpu));
    return Json::array(std::move(result));
}

}  // namespace

std::string_view to_text(NodeStatus status) {
    return enum_text<NodeStatus>(status_names, status);
}

Json to_json(const Node& node, const std::vector<GpuAllocation>& allocations) {
    Json result = Json::object({
        {"name", node.name},
        {"address", node.address},
        {"public_address", node.public_address.empty() ? node.address : node.public_address},
        {"network_bridge_mtu", node.bridge_mtu},
        {"cpus", node.configured_cpus > 0 ? node.configured_cpus : node.cpus},
        {"cpu_allocation_rate", node.cpu_allocation_rate},
        {"memory", format_size(node.configured_memory > 0 ? node.configured_memory : node.memory)},
        {"memory_allocation_rate", node.memory_allocation_rate},
        {"status_code", static_cast<int>(node.status)},
        {"status", to_text(node.status)},
        {"is_master", node.is_master},
        {"disk_size", format_size(node.disk_size)},
        {"gpu_slots", node.gpu_slots},
        {"gpu_encoder_slots", node.gpu_encoder_slots},
        {"tags", JsonArray(node.tags.begin(), node.tags.end())},
        {"unscheduable",
         node.unschedulable},  // the specification's spelling; the correct one is sent as well
        {"unschedulable", node.unschedulable},
    });
    if (!node.architecture.empty()) result.set("architecture", node.architecture);
    result.set("storage_pool", node.storage_pool);
    result.set("managed", node.managed);
    result.set("gpus", gpus_json(node, allocations));
    result.set("runtime", node.runtime);
    result.set("disk_limit_enforced", node.disk_limit_enforced);
    result.set("details", node.details);
    return result;
}

Json node_to_store(const Node& node) {
    return Json::object({
        {"schema", node_schema},
        {"name", node.name},
        {"address", node.address},
        {"public_address", node.public_address},
        {"subnet", node.subnet},
        {"network_bridge_mtu", node.bridge_mtu},
        {"cpus", node.cpus},
        {"configured_cpus", node.configured_cpus},
        {"cpu_allocation_rate", node.cpu_allocation_rate},
        {"memory", node.memory},
        {"configured_memory", node.configured_memory},
        {"memory_allocation_rate", node.memory_allocation_rate},
        {"status", to_text(node.status)},
        {"is_master", node.is_master},
        {"disk_size", node.disk_size},
        {"gpu_slots", node.gpu_slots},
        {"gpu_encoder_slots", node.gpu_encoder_slots},
        {"gpu_slots_set", node.gpu_slots_set},
        {"gpus", gpus_to_store(node)},
        {"tags", JsonArray(node.tags.begin(), node.tags.end())},
        {"unschedulable", node.unschedulable},
        {"evacuated", node.evacuated},
        {"architecture", node.architecture},
        {"storage_pool", node.storage_pool},
        {"storage_device", node.storage_device},
        {"managed", node.managed},
        {"runtime", node.runtime},
        {"disk_limit_enforced", node.disk_limit_enforced},
        {"details", node.details},
        {"android_fault", node.android_fault},
    });
}

Node node_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Node node;
    read_addresses(fields, node);
    read_capacity(fields, node);
    const auto status = enum_value<NodeStatus>(status_names, fields.require_string("status"));
    node.status = status.value_or(NodeStatus::unknown);
    node.is_master = fields.boolean("is_master").value_or(true);
    node.tags = fields.strings("tags").value_or(std::vector<std::string>());
    for (const JsonFields& gpu : fields.objects("gpus").value_or(std::vector<JsonFields>()))
        node.gpus.push_back(gpu_from_store(gpu));
    node.gpu_slots_set = fields.boolean("gpu_slots_set").value_or(false);
    node.unschedulable = fields.boolean("unschedulable").value_or(false);
    node.evacuated = fields.boolean("evacuated").value_or(false);
    node.architecture = fields.string("architecture").value_or("");
    node.storage_pool = fields.string("storage_pool").value_or(node.storage_pool);
    node.storage_device = fields.string("storage_device").value_or("");
    node.managed = fields.boolean("managed").value_or(true);
    node.runtime = fields.string("runtime").value_or("");
    node.disk_limit_enforced = fields.boolean("disk_limit_enforced").value_or(false);
    if (const Json* details = fields.raw("details")) node.details = *details;
    node.android_fault = fields.string("android_fault").value_or("");
    return node;
}

// What is detected or changes by itself (status, free space) is left out.
std::string etag_text(const Node& node) {
    JsonArray gpus;
    for (const Gpu& gpu : node.gpus)
        gpus.push_back(
            Json::object({{"id", gpu.id}, {"slots", gpu.slots}, {"encoder_slots", gpu.encoder_slots}}));
    return Json::object({{"public_address", node.public_address},
                         {"cpus", node.configured_cpus},
                         {"cpu_allocation_rate", node.cpu_allocation_rate},
                         {"memory", node.configured_memory},
                         {"memory_allocation_rate", node.memory_allocation_rate},
                         {"gpu_slots", node.gpu_slots},
                         {"gpu_encoder_slots", node.gpu_encoder_slots},
                         {"tags", JsonArray(node.tags.begin(), node.tags.end())},
                         {"unscheduable", node.unschedulable},
                         {"gpus", std::move(gpus)}})
        .dump();
}

}  // namespace svc
