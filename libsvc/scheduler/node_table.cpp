#include "libsvc/scheduler/node_table.h"

#include <algorithm>
#include <utility>

#include "libsvc/scheduler/ranked_nodes.h"

namespace svc {

// Nodes of one size lose the same shares when they take a request, so the order before is the order after.
// GPU slots count only where a request needs them; that is a second order.
struct NodeTable::Size {
    Size(Strategy strategy, const Amounts& its_total)
        : total(its_total), ranked(strategy), ranked_with_gpu(strategy) {}
    bool has_gpu() const { return total.gpu_slots > 0; }

    Amounts total;
    RankedNodes ranked;
    RankedNodes ranked_with_gpu;  // empty without GPU slots
};

namespace {

RankedNodes::Place place_of(const NodeCapacity& node, std::uint32_t index, bool with_gpu) {
    return {free_shares(node) + (with_gpu ? free_gpu_shares(node) : 0), node.instances, index};
}

}  // namespace

NodeTable::NodeTable(Strategy strategy, std::vector<NodeCapacity> nodes)
    : strategy_(strategy), nodes_(std::move(nodes)), size_of_node_(nodes_.size()) {
    std::ranges::sort(nodes_, {}, &NodeCapacity::name);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        indexes_.emplace(nodes_[i].name, i);
        size_of_node_[i] = &size_of(nodes_[i].total);
        list(i);
    }
}

NodeTable::~NodeTable() = default;
NodeTable::NodeTable(NodeTable&&) noexcept = default;
NodeTable& NodeTable::operator=(NodeTable&&) noexcept = default;

NodeTable::Size& NodeTable::size_of(const Amounts& total) {
    auto& size = sizes_[{total.cpus, total.memory, total.disk, total.gpu_slots}];
    if (!size) size = std::make_unique<Size>(strategy_, total);
    return *size;
}

// A node that takes no instances is in no order.
void NodeTable::list(std::uint32_t index) {
    const NodeCapacity& node = nodes_[index];
    if (!node.online || !node.schedulable) return;
    Size& size = *size_of_node_[index];
    size.ranked.add(place_of(node, index, false), nodes_);
    if (size.has_gpu()) size.ranked_with_gpu.add(place_of(node, index, true), nodes_);
}

void NodeTable::unlist(std::uint32_t index) {
    const NodeCapacity& node = nodes_[index];
    if (!node.online || !node.schedulable) return;
    Size& size = *size_of_node_[index];
    size.ranked.remove(place_of(node, index, false), nodes_);
    if (size.has_gpu()) size.ranked_with_gpu.remove(place_of(node, index, true), nodes_);
}

std::optional<std::uint32_t> NodeTable::find(std::string_view node) const {
    const auto found = indexes_.find(node);
    return found == indexes_.end() ? std::nullopt : std::optional(found->second);
}

void NodeTable::set_usage(std::string_view name, const NodeUsage& usage) {
    const auto index = find(name);
    if (!index) return;
    unlist(*index);
    NodeCapacity& node = nodes_[*index];
    node.used = usage.used;
    node.instances = usage.instances;
    node.free_addresses = usage.free_addresses;
    node.free_ports = usage.free_ports;
    list(*index);
}

std::variant<Placement, NoPlacement> NodeTable::place_on(const PlacementRequest& request) const {
    const auto index = find(request.node);
    if (!index) return svc::place(request, {}, strategy_);
    return svc::place(request, std::span(nodes_).subspan(*index, 1), strategy_);
}

std::variant<Placement, NoPlacement> NodeTable::place(const PlacementRequest& request) const {
    if (!request.node.empty()) return place_on(request);
    const bool with_gpu = request.needs.gpu_slots > 0;
    BestNode best(strategy_);
    for (const auto& [key, size] : sizes_) {
        if (with_gpu && !size->has_gpu()) continue;
        const RankedNodes& ranked = with_gpu ? size->ranked_with_gpu : size->ranked;
        const NodeCapacity* const node = ranked.first_fit(request, nodes_);
        if (node == nullptr) continue;
        const Shares free = free_shares(*node) + (with_gpu ? free_gpu_shares(*node) : 0);
        best.offer(*node, free - taken_shares(request, size->total));
    }
    if (best.node() != nullptr) return Placement{best.node()->name};
    return svc::place(request, nodes_, strategy_);  // finds out what each node is short of
}

}  // namespace svc
