#include "libsvc/scheduler/ranked_nodes.h"

#include <algorithm>
#include <iterator>

namespace svc {

namespace {

constexpr std::size_t max_places = 32;

// Tolerant, since fits() decides: a node whose free amount is only a rounding error short must not be
// skipped.
bool may_be_free(double need, double most_free) {
    constexpr double slack = 2 * cpu_tolerance;
    return need == 0 || need <= most_free + slack;
}

void raise(double& most, double total, double used) {
    most = std::max(most, total - used);
}

}  // namespace

bool RankedNodes::precedes(const Place& a, const Place& b) const {
    if (a.free != b.free) return sign_ * a.free < sign_ * b.free;
    if (a.instances != b.instances) return a.instances < b.instances;
    return a.node < b.node;
}

// The first block whose last node does not come before `place`; else the last block.
RankedNodes::Blocks::iterator RankedNodes::block_for(const Place& place) {
    const auto found = std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& block) {
        return precedes(block.places.back(), place);
    });
    return found == blocks_.end() && !blocks_.empty() ? std::prev(found) : found;
}

void RankedNodes::sum_up(Block& block, std::span<const NodeCapacity> nodes) {
    block.most_free = {};
    block.most_ports = 0;
    block.has_address = false;
    for (const Place& place : block.places) {
        const NodeCapacity& node = nodes[place.node];
        raise(block.most_free.cpus, node.total.cpus, node.used.cpus);
        raise(block.most_free.memory, node.total.memory, node.used.memory);
        raise(block.most_free.disk, node.total.disk, node.used.disk);
        raise(block.most_free.gpu_slots, node.total.gpu_slots, node.used.gpu_slots);
        raise(block.most_free.gpu_encoder_slots, node.total.gpu_encoder_slots, node.used.gpu_encoder_slots);
        block.most_ports = std::max(block.most_ports, node.free_ports);
        block.has_address = block.has_address || node.free_addresses > 0;
    }
}

void RankedNodes::add(const Place& place, std::span<const NodeCapacity> nodes) {
    auto block = block_for(place);
    if (block == blocks_.end()) block = blocks_.insert(block, Block());
    auto& places = block->places;
    const auto before = [this](const Place& a, const Place& b) { return precedes(a, b); };
    places.insert(std::upper_bound(places.begin(), places.end(), place, before), place);
    if (places.size() > max_places) {
        Block upper;
        const auto middle = places.begin() + max_places / 2;
        upper.places.assign(middle, places.end());
        places.erase(middle, places.end());
        sum_up(upper, nodes);
        block = std::prev(blocks_.insert(std::next(block), std::move(upper)));
    }
    sum_up(*block, nodes);
}

void RankedNodes::remove(const Place& place, std::span<const NodeCapacity> nodes) {
    const auto block = block_for(place);
    if (block == blocks_.end()) return;
    std::erase_if(block->places, [&](const Place& other) { return other.node == place.node; });
    if (block->places.empty())
        blocks_.erase(block);
    else
        sum_up(*block, nodes);
}

bool RankedNodes::may_fit(const PlacementRequest& request, const Block& block) {
    const Amounts& needs = request.needs;
    const Amounts& most = block.most_free;
    return may_be_free(needs.cpus, most.cpus) && may_be_free(needs.memory, most.memory) &&
           may_be_free(needs.disk, most.disk) && may_be_free(needs.gpu_slots, most.gpu_slots) &&
           may_be_free(needs.gpu_encoder_slots, most.gpu_encoder_slots) && block.has_address &&
           request.ports <= block.most_ports;
}

const NodeCapacity* RankedNodes::first_fit(const PlacementRequest& request,
                                           std::span<const NodeCapacity> nodes) const {
    for (const Block& block : blocks_) {
        if (!may_fit(request, block)) continue;
        for (const Place& place : block.places)
            if (fits(request, nodes[place.node])) return &nodes[place.node];
    }
    return nullptr;
}

}  // namespace svc
