#pragma once
// The machines that are nodes: what their record takes over from them.
#include <chrono>
#include <cstdint>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/model/cluster/node.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

struct NodeServiceOptions {
    std::string local_name;  // of this machine's node; "" = host name
    std::uint16_t first_port = 10000, last_port = 11000;
    double cpu_allocation_rate = 4, memory_allocation_rate = 2;  // of a node when it is first registered
    Duration join_limit = std::chrono::minutes(10);              // how long an added node may take to come
};

std::string host_node_name();
// Updates the record with what the machine has; what a user has set stays.
void take_machine(Node& node, const Capacity& capacity);

}  // namespace svc
