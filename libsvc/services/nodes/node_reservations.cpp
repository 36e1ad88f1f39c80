#include "libsvc/services/nodes/node_reservations.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

// The slots of a node without GPUs of its own have the type that gpu.type says.
std::vector<std::string> gpu_types(const Node& node, const std::string& configured) {
    if (node.gpus.empty()) return {configured};
    std::vector<std::string> types;
    for (const Gpu& gpu : node.gpus) types.push_back(gpu.type);
    return types;
}

// Each instance has a port of its node's bridge. The runtime says how many there are where it knows a limit.
std::uint64_t free_bridge_ports(const Node& node, const NodeLedger& ledger) {
    const Json* most = node.details.find("bridge_ports");
    if (most == nullptr || !most->is_integer()) return std::numeric_limits<std::uint64_t>::max();
    const std::int64_t left = most->as_int() - static_cast<std::int64_t>(ledger.instances());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(left, 0));
}

std::uint64_t free_addresses(const Node& node, const NodeLedger& ledger) {
    return std::min(ledger.free_addresses(), free_bridge_ports(node, ledger));
}

NodeCapacity capacity_of(const Node& node, const NodeLedger& ledger) {
    NodeCapacity capacity;
    capacity.name = node.name;
    capacity.architecture = node.architecture;
    capacity.tags = node.tags;
    capacity.online = node.status == NodeStatus::online;
    capacity.schedulable = !node.unschedulable;
    capacity.android_fault = node.android_fault;
    const int cpus = node.configured_cpus > 0 ? node.configured_cpus : node.cpus;
    const std::uint64_t memory = node.configured_memory > 0 ? node.configured_memory : node.memory;
    capacity.total.cpus = cpus * node.cpu_allocation_rate;
    capacity.total.memory = static_cast<double>(memory) * node.memory_allocation_rate;
    capacity.total.disk = static_cast<double>(node.disk_size);
    capacity.total.gpu_slots = node.gpu_slots;
    capacity.total.gpu_encoder_slots = node.gpu_encoder_slots;
    capacity.used = ledger.used();
    capacity.instances = ledger.instances();
    capacity.free_addresses = free_addresses(node, ledger);
    capacity.free_ports = ledger.free_ports();
    return capacity;
}

std::uint64_t ports_needed(const std::vector<ServiceEntry>& services) {
    std::uint64_t ports = 0;
    for (const ServiceEntry& service : services) ports += service.count();
    return ports;
}

bool holds_disk_only(const Instance& instance) {
    const bool unreadable = instance.status_when_readable != InstanceStatus::unknown;
    const InstanceStatus status = unreadable ? instance.status_when_readable : instance.status;
    return status == InstanceStatus::stopped || status == InstanceStatus::error;
}

// A failed base container keeps its record for inspection, but not its disk.
bool holds_nothing(const Instance& instance) {
    return instance.type == InstanceType::base && instance.status == InstanceStatus::error;
}

// Ports of a range need not lie side by side: then the reservation says so.
void leave_out(NodeCapacity& capacity, const Instance& gone) {
    const Amounts amounts = amounts_of(gone);
    capacity.used.cpus -= amounts.cpus;
    capacity.used.memory -= amounts.memory;
    capacity.used.disk -= amounts.disk;
    capacity.used.gpu_slots -= amounts.gpu_slots;
    capacity.used.gpu_encoder_slots -= gone.gpu_encoder_slots;
    ++capacity.free_addresses;
    capacity.free_ports += ports_needed(gone.services);
}

}  // namespace

void NodeReservations::make_ledgers(const std::vector<std::shared_ptr<const Node>>& nodes) {
    for (const auto& node : nodes) {
        try {
            if (!node->subnet.empty()) make_ledger(*node);
        } catch (const Error& e) {  // its record makes no sense: nothing is placed there
            log::error("node cannot be used", {{"node", node->name}, {"error", e.what()}});
        }
    }
}

// A node that got another part of the network has new addresses once the old ones are all given back.
void NodeReservations::make_ledger(const Node& node) {
    const auto known = ledgers_.find(node.name);
    if (known != ledgers_.end()) {
        if (known->second.subnet() == node.subnet || !known->second.empty()) return;
        ledgers_.erase(known);
    }
    ledgers_.try_emplace(node.name, node.subnet, parts_.first_port, parts_.last_port);
}

void NodeReservations::adopt(const std::vector<std::shared_ptr<const Instance>>& instances) {
    const auto nodes = parts_.records.list();
    std::lock_guard lock(mutex_);
    make_ledgers(nodes);
    std::map<std::string_view, const Node*> by_name;
    for (const auto& node : nodes) by_name.emplace(node->name, node.get());
    for (const auto& instance : instances) {
        const auto ledger = ledgers_.find(*instance->node);
        const auto node = by_name.find(*instance->node);
        if (ledger == ledgers_.end() || node == by_name.end() || holds_nothing(*instance)) continue;
        ledger->second.adopt(*instance, *node->second, holds_disk_only(*instance));
    }
    table_.reset();
}

Reservation NodeReservations::reserve(const Instance& instance) {
    const GpuMode mode = gpu_mode();
    std::lock_guard lock(mutex_);
    const std::string name = choose(instance);
    const auto node = parts_.records.get(name);
    auto taken = [&] {
        try {
            return ledgers_.at(name).take(instance, *node, mode);
        } catch (const Error&) {
            count(name);  // take() has released what the instance held before
            throw;
        }
    }();
    count(name);
    return {name,
            std::move(taken.address),
            node->public_address,
            std::move(taken.services),
            taken.gpu_encoder_slots,
            std::move(taken.gpus)};
}

bool NodeReservations::would_fit(const Instance& instance, const std::string& node,
                                 const std::vector<std::shared_ptr<const Instance>>& gone) const {
    const auto record = parts_.nodes.find(node);
    std::lock_guard lock(mutex_);
    const auto ledger = ledgers_.find(node);
    if (!record || ledger == ledgers_.end()) return false;
    NodeCapacity capacity = capacity_of(*record, ledger->second);
    capacity.gpu_types = gpu_types(*record, parts_.config.text("gpu.type"));
    for (const auto& each : gone) leave_out(capacity, *each);
    return shortage(request_for(instance), capacity).empty();
}

void NodeReservations::release(const Instance& instance, bool keep_disk) {
    std::lock_guard lock(mutex_);
    const auto ledger = ledgers_.find(*instance.node);
    if (ledger == ledgers_.end()) return;
    ledger->second.release(instance.id.str(), keep_disk);
    count(instance.node);
}

Strategy NodeReservations::strategy() const {
    return parts_.config.text("scheduler.strategy") == "binpack" ? Strategy::binpack : Strategy::spread;
}

GpuMode NodeReservations::gpu_mode() const {
    return parts_.config.text("gpu.allocation_mode") == "one" ? GpuMode::one : GpuMode::all;
}

PlacementRequest NodeReservations::request_for(const Instance& instance) const {
    PlacementRequest request;
    request.needs = amounts_of(instance);
    request.ports = ports_needed(instance.services);
    request.architecture = instance.architecture;
    request.selector = instance.node_selector;
    request.gpu_type = instance.gpu_type;
    request.android = instance.android;
    request.node = instance.wanted_node;
    const auto ledger = ledgers_.find(*instance.node);
    if (ledger != ledgers_.end() && ledger->second.holds(instance.id.str())) {
        request.node = instance.node;  // its files are there, and their size is reserved already
        request.needs.disk = 0;
    }
    return request;
}

std::string NodeReservations::choose(const Instance& instance) {
    const PlacementRequest request = request_for(instance);
    const auto placed = table().place(request);
    if (const auto* placement = std::get_if<Placement>(&placed)) return placement->node;
    throw_shortage(std::get<NoPlacement>(placed), request);
}

bool NodeReservations::table_is_current() const {
    return table_ && table_->changes == parts_.nodes.changes() && table_->nodes.strategy() == strategy() &&
           table_->gpu_type == parts_.config.text("gpu.type");
}

NodeTable& NodeReservations::table() {
    if (table_is_current()) return table_->nodes;
    const std::uint64_t changes =
        parts_.nodes.changes();  // read before the nodes, so that a change in between makes the table again
    const std::string gpu_type = parts_.config.text("gpu.type");
    std::vector<NodeCapacity> capacities;
    const auto nodes = parts_.records.list();
    make_ledgers(nodes);
    for (const auto& node : nodes) {
        const auto ledger = ledgers_.find(node->name);
        if (ledger == ledgers_.end()) continue;
        capacities.push_back(capacity_of(*node, ledger->second));
        capacities.back().gpu_types = gpu_types(*node, gpu_type);
    }
    table_.emplace(Table{changes, gpu_type, NodeTable(strategy(), std::move(capacities))});
    return table_->nodes;
}

// Updates the table after the reservations of the node have changed.
void NodeReservations::count(const std::string& node) {
    if (!table_) return;
    const NodeLedger& ledger = ledgers_.at(node);
    const auto record = parts_.nodes.find(node);
    const std::uint64_t addresses = record ? free_addresses(*record, ledger) : ledger.free_addresses();
    table_->nodes.set_usage(node, {ledger.used(), ledger.instances(), addresses, ledger.free_ports()});
}

// Addresses and ports have error texts of their own: places the instance again without needing them.
void NodeReservations::throw_shortage(const NoPlacement& refusal, PlacementRequest request) {
    const auto nodes = table().nodes();
    std::vector<NodeCapacity> candidates(nodes.begin(), nodes.end());
    const auto fits = [&] {
        return std::holds_alternative<Placement>(place(request, candidates, Strategy::spread));
    };
    for (NodeCapacity& candidate : candidates) candidate.free_addresses = 1;
    const auto has_full_bridge = [&](const NodeCapacity& node) {
        const auto record = parts_.nodes.find(node.name);
        return record && free_bridge_ports(*record, ledgers_.at(node.name)) == 0;
    };
    if (fits())
        throw Error(ErrorCode::exhausted, std::ranges::any_of(nodes, has_full_bridge)
                                              ? "no free port of a bridge available"
                                              : "no free address available");
    request.ports = 0;
    if (fits()) throw Error(ErrorCode::exhausted, "no free port available");
    throw Error(ErrorCode::exhausted, refusal.reason);
}

bool NodeReservations::holds(const Instance& instance) const {
    std::lock_guard lock(mutex_);
    const auto ledger = ledgers_.find(*instance.node);
    return ledger != ledgers_.end() && ledger->second.holds(instance.id.str());
}

std::vector<std::string> NodeReservations::instances_on(std::string_view node) const {
    std::lock_guard lock(mutex_);
    const auto ledger = ledgers_.find(node);
    return ledger == ledgers_.end() ? std::vector<std::string>() : ledger->second.held();
}

void NodeReservations::forget(const std::string& node) {
    std::lock_guard lock(mutex_);
    ledgers_.erase(node);
    table_.reset();
}

std::vector<GpuAllocation> NodeReservations::gpu_allocations(std::string_view node) const {
    std::lock_guard lock(mutex_);
    const auto ledger = ledgers_.find(node);
    if (ledger == ledgers_.end()) return {};
    return ledger->second.gpu_allocations();
}

}  // namespace svc
