#pragma once
// How many instances may share the GPUs of a node.
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"
#include "libsvc/runtime/machine_gpus.h"

namespace svc {

// Updates the record with the GPUs that the machine has. One that is new gets the slots of its type; the
// others keep theirs.
void take_gpus(Node& node, const std::vector<MachineGpu>& found);

// The node as placement and clients see it while gpu.type is `gpu_type`: with the GPUs of that type alone
// (all of them for "none") and the total of their slots. Without such a GPU the slots are those that a user
// has set, else the default of the type.
Node with_gpu_type(Node node, std::string_view gpu_type);

}  // namespace svc
