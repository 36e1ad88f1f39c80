#include "libsvc/services/nodes/local_node.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/services/nodes/gpu_probe.h"

namespace svc {

namespace {

// GPUs keep the slots that a user has given them.
std::vector<Gpu> merged(std::vector<Gpu> found, const std::vector<Gpu>& known) {
    for (Gpu& gpu : found) {
        const auto before = std::ranges::find(known, gpu.pci_address, &Gpu::pci_address);
        if (before == known.end() || before->type != gpu.type) continue;
        gpu.slots = before->slots;
        gpu.encoder_slots = before->encoder_slots;
    }
    return found;
}

void take_over(Node& node, const Capacity& capacity, const std::vector<Gpu>& gpus) {
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
    node.gpus = merged(gpus, node.gpus);
    if (node.status != NodeStatus::deleted)
        node.status = NodeStatus::online;  // a removal is in progress otherwise
}

}  // namespace

std::string host_node_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "node0";
    return name.data();
}

void register_local_node(Nodes& nodes, const NodeServiceOptions& options, const Capacity& capacity) {
    const auto gpus = options.sysfs.empty() ? std::vector<Gpu>() : probe_gpus(options.sysfs);
    if (nodes.find(options.local_name)) {
        nodes.update(options.local_name, [&](Node& node) { take_over(node, capacity, gpus); });
        return;
    }
    Node node;
    node.name = options.local_name;
    node.cpu_allocation_rate = options.cpu_allocation_rate;
    node.memory_allocation_rate = options.memory_allocation_rate;
    take_over(node, capacity, gpus);
    nodes.put(std::move(node));
    log::info("node registered", {{"node", options.local_name}, {"runtime", capacity.runtime}});
}

}  // namespace svc
