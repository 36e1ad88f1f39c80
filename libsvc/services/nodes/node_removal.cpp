#include "libsvc/services/nodes/node_removal.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/nodes/node_operation.h"

namespace svc {

namespace {

constexpr int max_rounds = 3;  // a launch may have chosen the node just before the request

[[noreturn]] void throw_in_use(std::string_view name) {
    throw Error(ErrorCode::conflict, "node " + std::string(name) + " is in use");
}

}  // namespace

NodeRemovals::NodeRemovals(Nodes& nodes, NodeReservations& reservations, Engine& engine,
                           std::string local_name)
    : nodes_(nodes), reservations_(reservations), engine_(engine), local_name_(std::move(local_name)) {
    engine_.handle("node.remove", {[this](OperationContext& context) { return run(context.operation()); },
                                   [this](const Operation& o, const Error&) { return undo(o); }, true});
}

// Without the local node nothing could be launched, and only the next start of the service would register it
// again.
void NodeRemovals::require_other_machine(std::string_view name) const {
    if (name == local_name_)
        throw Error(ErrorCode::invalid_argument,
                    "deleting node " + std::string(name) +
                        " not allowed: it is the runtime's own machine, and no other can take its place");
}

Started NodeRemovals::remove(std::string_view name, const NodeRemoval& removal, std::string requestor) {
    const auto node = nodes_.get(name);
    if (!removal.force && reservations_.is_in_use(name)) throw_in_use(name);
    require_other_machine(node->name);
    auto spec = node_operation("node.remove", "Deleting node", *node, std::move(requestor));
    spec.arguments.set("force", removal.force);
    Batch batch;
    nodes_.stage_update(batch, node->name, [](Node& changed) { changed.status = NodeStatus::deleted; });
    return engine_.start(std::move(spec), std::move(batch));
}

OperationResult NodeRemovals::run(const Operation& operation) {
    const std::string name = node_of(operation);
    require_other_machine(name);
    const bool force = JsonFields(operation.arguments).boolean("force").value_or(false);
    for (int round = 0; force && remove_instances_ && reservations_.is_in_use(name) && round < max_rounds;
         ++round)
        remove_instances_(name);
    if (reservations_.is_in_use(name)) throw_in_use(name);
    OperationResult result;
    result.stage = [this, name](Batch& last) { nodes_.stage_remove(last, name); };
    result.after = [this, name] {
        reservations_.forget(name);
        log::info("node removed", {{"node", name}});
    };
    return result;
}

OperationResult NodeRemovals::undo(const Operation& operation) {
    OperationResult result;
    result.stage = [this, name = node_of(operation)](Batch& last) {
        if (!nodes_.find(name)) return;
        nodes_.stage_update(last, name, [](Node& node) { node.status = NodeStatus::online; });
    };
    return result;
}

}  // namespace svc
