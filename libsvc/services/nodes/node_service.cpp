#include "libsvc/services/nodes/node_service.h"

#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/nodes/node_operation.h"
#include "libsvc/services/nodes/node_patch.h"

namespace svc {

namespace {

// The reservations are made from the nodes: the local one has to be among them.
NodeServiceParts with_local_node(NodeServiceParts parts) {
    if (parts.options.local_name.empty()) parts.options.local_name = host_node_name();
    register_local_node(parts.nodes, parts.options, parts.runtime.capacity());
    return parts;
}

}  // namespace

NodeService::NodeService(NodeServiceParts parts)
    : parts_(with_local_node(std::move(parts))),
      records_(parts_.nodes, parts_.config),
      reservations_(
          {parts_.nodes, records_, parts_.config, parts_.options.first_port, parts_.options.last_port}),
      removals_(parts_.nodes, reservations_, parts_.engine, parts_.options.local_name) {
    parts_.engine.handle("node.update", {[](OperationContext&) { return OperationResult(); }, nullptr, true});
}

Started NodeService::create(const NodeCreate& request, const std::string&) {
    for (const auto& node : parts_.nodes.list())
        if (node->name == request.name || node->address == request.address)
            throw Error(ErrorCode::conflict, "node already exists");
    throw Error(ErrorCode::unsupported, "adding node " + request.name + ": runtime " +
                                            parts_.runtime.capacity().runtime + " has one node");
}

// The change commits with the operation's record, which has nothing left to do.
Started NodeService::patch(std::string_view name, const NodePatch& patch, std::string requestor,
                           const Precondition& unchanged) {
    return retry_on_conflict([&] {
        const auto seen = get(name);
        auto spec = node_operation("node.update", "Updating node " + seen->name, *seen, requestor);
        Batch batch;
        parts_.nodes.stage_update(batch, seen->name, [&](Node& node) {
            if (unchanged) unchanged(etag(*records_.as_seen(node)));
            apply_node_patch(patch, *seen, node);
        });
        Started started = parts_.engine.start(std::move(spec), std::move(batch));
        if (const auto now = parts_.nodes.find(name)) warn_of_missing_encoders(*records_.as_seen(*now));
        return started;
    });
}

void NodeService::check_wanted(std::string_view node) const {
    const auto found = get(node);
    if (found->status != NodeStatus::online || found->unschedulable)
        throw Error(ErrorCode::invalid_argument,
                    "scheduling on node " + found->name + " not allowed: it is " +
                        (found->unschedulable ? "unschedulable" : std::string(to_text(found->status))));
}

Json NodeService::describe(const Node& node) const {
    return to_json(node, reservations_.gpu_allocations(node.name));
}

std::string NodeService::etag(const Node& node) const {
    return sha256_hex(etag_text(node));
}

}  // namespace svc
