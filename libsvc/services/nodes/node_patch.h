#pragma once
// What a PATCH changes on the record of a node.
#include "libsvc/model/cluster/node.h"

namespace svc {

// `seen` is the node as clients see it. Throws invalid_argument for a GPU that the node does not have.
void apply_node_patch(const NodePatch& patch, const Node& seen, Node& node);
// Logs a warning when there are more GPU slots than encoder slots. That is allowed: a guest may encode by
// software.
void warn_of_missing_encoders(const Node& node);

}  // namespace svc
