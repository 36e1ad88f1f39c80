#include "libsvc/services/nodes/gpu_slots.h"

#include <algorithm>
#include <array>
#include <utility>

namespace svc {

namespace {

struct TypeSlots {
    std::string_view type;
    int slots;
    int encoder_slots;
};
constexpr std::array<TypeSlots, 3> defaults{{{"nvidia", 32, 32}, {"amd", 10, 0}, {"intel", 10, 10}}};

// None for "none" and for unknown types.
TypeSlots default_slots(std::string_view type) {
    const auto known = std::ranges::find(defaults, type, &TypeSlots::type);
    return known == defaults.end() ? TypeSlots{type, 0, 0} : *known;
}

// A GPU that was there before keeps the slots that a user has given it.
Gpu as_recorded(const MachineGpu& found, const std::vector<Gpu>& before) {
    const TypeSlots usual = default_slots(found.type);
    Gpu gpu;
    gpu.type = found.type;
    gpu.pci_address = found.pci_address;
    gpu.render_name = found.render_name;
    gpu.numa_node = found.numa_node;
    gpu.slots = usual.slots;
    gpu.encoder_slots = usual.encoder_slots;
    const auto same = std::ranges::find(before, found.pci_address, &Gpu::pci_address);
    if (same == before.end() || same->type != found.type) return gpu;
    gpu.slots = same->slots;
    gpu.encoder_slots = same->encoder_slots;
    return gpu;
}

}  // namespace

void take_gpus(Node& node, const std::vector<MachineGpu>& found) {
    std::vector<Gpu> gpus;
    for (const MachineGpu& each : found) {
        gpus.push_back(as_recorded(each, node.gpus));
        gpus.back().id = static_cast<int>(gpus.size()) - 1;
    }
    node.gpus = std::move(gpus);
}

Node with_gpu_type(Node node, std::string_view gpu_type) {
    if (gpu_type != "none") std::erase_if(node.gpus, [&](const Gpu& gpu) { return gpu.type != gpu_type; });
    if (node.gpus.empty()) {
        if (node.gpu_slots_set) return node;
        const TypeSlots usual = default_slots(gpu_type);
        node.gpu_slots = usual.slots;
        node.gpu_encoder_slots = usual.encoder_slots;
        return node;
    }
    node.gpu_slots = node.gpu_encoder_slots = 0;
    for (const Gpu& gpu : node.gpus) {
        node.gpu_slots += gpu.slots;
        node.gpu_encoder_slots += gpu.encoder_slots;
    }
    return node;
}

}  // namespace svc
