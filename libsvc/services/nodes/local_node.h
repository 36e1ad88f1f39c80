#pragma once
// The node of the machine that this service runs on.
#include <cstdint>
#include <filesystem>
#include <string>

#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/records.h"

namespace svc {

struct NodeServiceOptions {
    std::string local_name;  // of this machine's node; "" = host name
    std::uint16_t first_port = 10000, last_port = 11000;
    double cpu_allocation_rate = 4,
           memory_allocation_rate = 2;  // of the local node when it is first registered
    std::filesystem::path sysfs;        // "/sys": where the GPUs of the local node show; "": it has none
};

std::string host_node_name();
// Makes the record of the node `options.local_name`, or updates it with what the machine has; what a user has
// set stays.
void register_local_node(Nodes& nodes, const NodeServiceOptions& options, const Capacity& capacity);

}  // namespace svc
