#include "libsvc/services/nodes/node_patch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

// Evenly over the GPUs; the first ones get the remainder.
void divide(std::vector<Gpu>& gpus, int Gpu::*slots, int total) {
    const int count = static_cast<int>(gpus.size());
    for (int i = 0; i < count; ++i)
        gpus[static_cast<std::size_t>(i)].*slots = total / count + (i < total % count ? 1 : 0);
}

void set_slots(Node& node, const NodePatch& patch, const Node& seen) {
    if (!node.gpus.empty()) {
        if (patch.gpu_slots) divide(node.gpus, &Gpu::slots, *patch.gpu_slots);
        if (patch.gpu_encoder_slots) divide(node.gpus, &Gpu::encoder_slots, *patch.gpu_encoder_slots);
    } else if (patch.gpu_slots || patch.gpu_encoder_slots) {
        node.gpu_slots = patch.gpu_slots.value_or(seen.gpu_slots);
        node.gpu_encoder_slots = patch.gpu_encoder_slots.value_or(seen.gpu_encoder_slots);
        node.gpu_slots_set = true;
    }
    for (const NodePatch::GpuSlots& change : patch.gpus) {
        const auto gpu = std::ranges::find(node.gpus, change.id, &Gpu::id);
        if (gpu == node.gpus.end())
            throw_invalid("gpus", "node " + node.name + " has no GPU " + std::to_string(change.id));
        if (change.slots) gpu->slots = *change.slots;
        if (change.encoder_slots) gpu->encoder_slots = *change.encoder_slots;
    }
}

template <class T>
void set_if(T& field, const std::optional<T>& value) {
    if (value) field = *value;
}

}  // namespace

void apply_node_patch(const NodePatch& patch, const Node& seen, Node& node) {
    if (patch.public_address)
        node.public_address = patch.public_address->empty() ? node.address : *patch.public_address;
    set_if(node.configured_cpus, patch.cpus);
    set_if(node.configured_memory, patch.memory);
    set_if(node.cpu_allocation_rate, patch.cpu_allocation_rate);
    set_if(node.memory_allocation_rate, patch.memory_allocation_rate);
    set_if(node.tags, patch.tags);
    set_if(node.unschedulable, patch.unschedulable);
    if (!node.unschedulable && std::exchange(node.evacuated, false) && node.status == NodeStatus::evacuated)
        node.status = NodeStatus::online;
    set_slots(node, patch, seen);
}

void warn_of_missing_encoders(const Node& node) {
    if (node.gpu_encoder_slots > 0 && node.gpu_slots > node.gpu_encoder_slots)
        log::warning("node has more GPU slots than GPU encoder slots", {{"node", node.name}});
}

}  // namespace svc
