#include "libsvc/services/nodes/node_operation.h"

#include <utility>

namespace svc {

OperationSpec node_operation(std::string kind, std::string description, const Node& node,
                             std::string requestor) {
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources["nodes"] = {"/1.0/nodes/" + node.name};
    spec.claims = {"nodes/" + node.name};
    spec.arguments = Json::object({{"node", node.name}});
    spec.requestor = std::move(requestor);
    return spec;
}

std::string node_of(const Operation& operation) {
    return JsonFields(operation.arguments).require_string("node");
}

}  // namespace svc
