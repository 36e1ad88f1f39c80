#include "libsvc/services/node_service.h"

#include <unistd.h>

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/size.h"
#include "libsvc/services/node_ledger.h"

namespace svc {

namespace {

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "node0";
    return name.data();
}

// What the machine says; what a user has set on the node stays.
void take_over(Node& node, const Capacity& capacity) {
    if (node.public_address.empty() || node.public_address == node.address)
        node.public_address = capacity.public_address.empty() ? capacity.address : capacity.public_address;
    node.address = capacity.address;
    node.bridge_mtu = capacity.bridge_mtu;
    node.cpus = static_cast<int>(capacity.cpus);
    node.memory = capacity.memory_bytes;
    node.disk_size = capacity.disk_bytes;
    node.architecture = capacity.architecture;
    node.storage_pool = capacity.storage_pool;
    node.subnet = capacity.subnet;
    node.runtime = capacity.runtime;
    node.disk_limit_enforced = capacity.disk_limit_enforced;
    node.details = capacity.details;
    node.status = NodeStatus::online;
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

bool holds_disk_only(InstanceStatus status) {
    return status == InstanceStatus::stopped || status == InstanceStatus::error;
}

}  // namespace

class NodeService::Implementation {
  public:
    Implementation(Nodes& nodes, Runtime& runtime, NodeServiceOptions options)
        : nodes_(nodes), options_(std::move(options)) {
        if (options_.local_name.empty()) options_.local_name = host_name();
        register_local(runtime.capacity());
        for (const auto& node : nodes_.list())
            ledgers_.try_emplace(node->name, node->subnet, options_.first_port, options_.last_port);
    }

    void adopt(const std::vector<std::shared_ptr<const Instance>>& instances) {
        std::lock_guard lock(mutex_);
        for (const auto& instance : instances) {
            const auto ledger = ledgers_.find(instance->node);
            if (ledger != ledgers_.end()) ledger->second.adopt(*instance, holds_disk_only(instance->status));
        }
    }

    Reservation reserve(const Instance& instance) {
        std::lock_guard lock(mutex_);
        const std::string name = choose(instance);
        const auto node = nodes_.get(name);
        auto taken = ledgers_.at(name).take(instance);
        return {name, std::move(taken.address), node->public_address, std::move(taken.services), 0, {}};
    }

    void release(const Instance& instance, bool keep_disk) {
        std::lock_guard lock(mutex_);
        const auto ledger = ledgers_.find(instance.node);
        if (ledger != ledgers_.end()) ledger->second.release(instance.id.str(), keep_disk);
    }

    Nodes& nodes() const { return nodes_; }
    const std::string& local_name() const { return options_.local_name; }

  private:
    void register_local(const Capacity& capacity) {
        if (nodes_.find(options_.local_name)) {
            nodes_.update(options_.local_name, [&](Node& node) { take_over(node, capacity); });
            return;
        }
        Node node;
        node.name = options_.local_name;
        node.cpu_allocation_rate = options_.cpu_allocation_rate;
        node.memory_allocation_rate = options_.memory_allocation_rate;
        take_over(node, capacity);
        nodes_.create(std::move(node));
        log::info("node registered", {{"node", options_.local_name}, {"runtime", capacity.runtime}});
    }

    PlacementRequest request_for(const Instance& instance) const {
        PlacementRequest request;
        request.needs = amounts_of(instance.resources);
        request.ports = ports_needed(instance.services);
        request.architecture = instance.architecture;
        request.node = instance.wanted_node;
        const auto ledger = ledgers_.find(instance.node);
        if (ledger != ledgers_.end() && ledger->second.holds(instance.id.str())) {
            request.node = instance.node;  // its files are there, and their disk is counted already
            request.needs.disk = 0;
        }
        return request;
    }

    std::string choose(const Instance& instance) const {
        std::vector<NodeCapacity> candidates;
        for (const auto& node : nodes_.list()) {
            const auto ledger = ledgers_.find(node->name);
            if (ledger != ledgers_.end()) candidates.push_back(capacity_of(*node, ledger->second));
        }
        PlacementRequest request = request_for(instance);
        const auto placed = place(request, candidates, Strategy::spread);
        if (const auto* placement = std::get_if<Placement>(&placed)) return placement->node;
        throw_shortage(std::get<NoPlacement>(placed), request, std::move(candidates));
    }

    // Addresses and ports have texts of their own: what is short shows once the others are left out.
    [[noreturn]] void throw_shortage(const NoPlacement& refusal, PlacementRequest request,
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

    Nodes& nodes_;
    NodeServiceOptions options_;
    std::mutex mutex_;
    std::map<std::string, NodeLedger, std::less<>> ledgers_;
};

NodeService::NodeService(NodeServiceParts parts)
    : implementation_(std::make_unique<Implementation>(parts.nodes, parts.runtime, std::move(parts.options))) {}
NodeService::~NodeService() = default;

void NodeService::adopt(const std::vector<std::shared_ptr<const Instance>>& instances) {
    implementation_->adopt(instances);
}

Reservation NodeService::reserve(const Instance& instance) {
    return implementation_->reserve(instance);
}

void NodeService::release_all(const Instance& instance) {
    implementation_->release(instance, false);
}

void NodeService::release_all_but_disk(const Instance& instance) {
    implementation_->release(instance, true);
}

void NodeService::check_wanted(std::string_view node) const {
    const auto found = implementation_->nodes().get(node);
    if (found->status != NodeStatus::online || found->unschedulable)
        throw Error(ErrorCode::invalid_argument,
                    "scheduling on node " + found->name + " not allowed: it is " +
                        (found->unschedulable ? "unschedulable" : std::string(to_text(found->status))));
}

std::shared_ptr<const Node> NodeService::get(std::string_view name) const {
    return implementation_->nodes().get(name);
}

std::vector<std::shared_ptr<const Node>> NodeService::list() const {
    return implementation_->nodes().list();
}

std::string NodeService::etag(const Node& node) const {
    JsonArray tags(node.tags.begin(), node.tags.end());
    return sha256_hex(Json::object({{"public_address", node.public_address},
                                    {"cpus", node.configured_cpus},
                                    {"cpu_allocation_rate", node.cpu_allocation_rate},
                                    {"memory", format_size(node.configured_memory)},
                                    {"memory_allocation_rate", node.memory_allocation_rate},
                                    {"gpu_slots", node.gpu_slots},
                                    {"gpu_encoder_slots", node.gpu_encoder_slots},
                                    {"tags", Json::array(std::move(tags))},
                                    {"unscheduable", node.unschedulable}})
                          .dump());
}

const std::string& NodeService::local_name() const {
    return implementation_->local_name();
}

}  // namespace svc
