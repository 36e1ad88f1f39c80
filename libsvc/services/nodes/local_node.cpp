#include "libsvc/services/nodes/local_node.h"

#include <unistd.h>

#include <array>

#include "libsvc/services/nodes/gpu_slots.h"

namespace svc {

std::string host_node_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "node0";
    return name.data();
}

void take_machine(Node& node, const Capacity& capacity) {
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
    node.android_fault = capacity.android_fault;
    take_gpus(node, capacity.gpus);
}

}  // namespace svc
