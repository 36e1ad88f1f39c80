#pragma once
// What a request to add a node asks of its machine.
#include "libsvc/model/cluster/node.h"
#include "libsvc/runtime/machine_cluster.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Nothing is ignored: throws invalid_argument for what the machine does not have and will not get. `machine`:
// null while it has not come; `cluster`: which it joins, may be null.
void check_wishes(const NodeCreate& request, const RuntimeNode* machine, MachineCluster* cluster);

}  // namespace svc
