#pragma once
// Giving back what an instance held.
#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

// `ended`, whose commit clears the reservation in the record, gives it back after that commit and before it
// tells anybody. Before the commit another instance could get the same address and ports: then two records
// would tell of them, and after a crash the next daemon could not know whose they are. Where the record keeps
// them, because it is another's turn (a deletion), that gives them back. `keep_disk`: the files stay.
OperationResult release_after_commit(OperationResult ended, const Instances& instances, NodeService& nodes,
                                     const InstancePtr& instance, bool keep_disk);

}  // namespace svc
