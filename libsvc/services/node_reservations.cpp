// Placing instances and giving back what they held.
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/services/node_implementation.h"

namespace svc {

namespace {

// A node whose slots are a bare number has them of what gpu.type says.
std::vector<std::string> gpu_types(const Node& node, const std::string& configured) {
    if (node.gpus.empty()) return {configured};
    std::vector<std::string> types;
    for (const Gpu& gpu : node.gpus) types.push_back(gpu.type);
    return types;
}

NodeCapacity capacity_of(const Node& node, const NodeLedger& ledger) {
    NodeCapacity capacity;
    capacity.name = node.name;
    capacity.architecture = node.architecture;
    capacity.tags = node.tags;
    capacity.online = node.status == NodeStatus::online;
    capacity.schedulable = !node.unschedulable;
    const int cpus = node.configured_cpus > 0 ? node.configured_cpus : node.cpus;
    const std::uint64_t memory = node.configured_memory > 0 ? node.configured_memory : node.memory;
    capacity.total.cpus = cpus * node.cpu_allocation_rate;
    capacity.total.memory = static_cast<double>(memory) * node.memory_allocation_rate;
    capacity.total.disk = static_cast<double>(node.disk_size);
    capacity.total.gpu_slots = node.gpu_slots;
    capacity.total.gpu_encoder_slots = node.gpu_encoder_slots;
    capacity.used = ledger.used();
    capacity.instances = ledger.instances();
    capacity.free_addresses = ledger.free_addresses();
    capacity.free_ports = ledger.free_ports();
    return capacity;
}

std::uint64_t ports_needed(const std::vector<ServiceEntry>& services) {
    std::uint64_t ports = 0;
    for (const ServiceEntry& service : services) ports += service.count();
    return ports;
}

bool holds_disk_only(const Instance& instance) {
    return instance.status == InstanceStatus::stopped || instance.status == InstanceStatus::error;
}

// A failed base instance is a record for inspection: its disk is gone.
bool holds_nothing(const Instance& instance) {
    return instance.type == InstanceType::base && instance.status == InstanceStatus::error;
}

}  // namespace

void NodeService::Implementation::adopt(const std::vector<std::shared_ptr<const Instance>>& instances) {
    const auto nodes = list();
    std::lock_guard lock(mutex_);
    for (const auto& instance : instances) {
        const auto ledger = ledgers_.find(instance->node);
        if (ledger == ledgers_.end() || holds_nothing(*instance)) continue;
        for (const auto& node : nodes)
            if (node->name == instance->node)
                ledger->second.adopt(*instance, *node, holds_disk_only(*instance));
    }
}

Reservation NodeService::Implementation::reserve(const Instance& instance) {
    const GpuMode mode = gpu_mode();
    std::lock_guard lock(mutex_);
    const auto nodes = list();
    const std::string name = choose(instance, nodes);
    for (const auto& node : nodes) {
        if (node->name != name) continue;
        auto taken = ledgers_.at(name).take(instance, *node, mode);
        return {name,
                std::move(taken.address),
                node->public_address,
                std::move(taken.services),
                taken.gpu_encoder_slots,
                std::move(taken.gpus)};
    }
    throw Error(ErrorCode::internal, "node " + name + " is gone");
}

void NodeService::Implementation::release(const Instance& instance, bool keep_disk) {
    std::lock_guard lock(mutex_);
    const auto ledger = ledgers_.find(instance.node);
    if (ledger != ledgers_.end()) ledger->second.release(instance.id.str(), keep_disk);
}

Strategy NodeService::Implementation::strategy() const {
    return parts_.config.text("scheduler.strategy") == "binpack" ? Strategy::binpack : Strategy::spread;
}

GpuMode NodeService::Implementation::gpu_mode() const {
    return parts_.config.text("gpu.allocation_mode") == "one" ? GpuMode::one : GpuMode::all;
}

PlacementRequest NodeService::Implementation::request_for(const Instance& instance) const {
    PlacementRequest request;
    request.needs = amounts_of(instance);
    request.ports = ports_needed(instance.services);
    request.architecture = instance.architecture;
    request.selector = instance.node_selector;
    request.gpu_type = instance.gpu_type;
    request.node = instance.wanted_node;
    const auto ledger = ledgers_.find(instance.node);
    if (ledger != ledgers_.end() && ledger->second.holds(instance.id.str())) {
        request.node = instance.node;  // its files are there, and their disk is counted already
        request.needs.disk = 0;
    }
    return request;
}

std::string NodeService::Implementation::choose(const Instance& instance,
                                                const std::vector<Ptr>& nodes) const {
    std::vector<NodeCapacity> candidates;
    for (const auto& node : nodes) {
        const auto ledger = ledgers_.find(node->name);
        if (ledger == ledgers_.end()) continue;
        candidates.push_back(capacity_of(*node, ledger->second));
        candidates.back().gpu_types = gpu_types(*node, parts_.config.text("gpu.type"));
    }
    PlacementRequest request = request_for(instance);
    const auto placed = place(request, candidates, strategy());
    if (const auto* placement = std::get_if<Placement>(&placed)) return placement->node;
    throw_shortage(std::get<NoPlacement>(placed), request, std::move(candidates));
}

// Addresses and ports have texts of their own: what is short shows once the others are left out.
void NodeService::Implementation::throw_shortage(const NoPlacement& refusal, PlacementRequest request,
                                                 std::vector<NodeCapacity> candidates) const {
    const auto fits = [&] {
        return std::holds_alternative<Placement>(place(request, candidates, Strategy::spread));
    };
    for (NodeCapacity& candidate : candidates) candidate.free_addresses = 1;
    if (fits()) throw Error(ErrorCode::exhausted, "no free address available");
    request.ports = 0;
    if (fits()) throw Error(ErrorCode::exhausted, "no free port available");
    throw Error(ErrorCode::exhausted, refusal.reason);
}

}  // namespace svc
