#pragma once
// How operations on nodes look.
#include <string>

#include "libsvc/model/cluster/node.h"
#include "libsvc/operations/engine.h"

namespace svc {

// Claims the node; its name is among the arguments.
OperationSpec node_operation(std::string kind, std::string description, const Node& node,
                             std::string requestor);
std::string node_of(const Operation& operation);

}  // namespace svc
