// Taking nodes away. From the request on the node has the status `deleted`, so that nothing new is placed on
// it.
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/nodes/node_implementation.h"

namespace svc {

namespace {

constexpr int max_rounds = 3;  // a launch may have chosen the node just before it was closed

std::string node_of(const Operation& operation) {
    return JsonFields(operation.arguments).require_string("node");
}

[[noreturn]] void throw_in_use(std::string_view name) {
    throw Error(ErrorCode::conflict, "node " + std::string(name) + " is in use");
}

}  // namespace

// Nothing could be launched without it, and nothing could bring it back but the next start of the service.
void NodeService::Implementation::require_other_machine(std::string_view name) const {
    if (name == parts_.options.local_name)
        throw Error(ErrorCode::invalid_argument,
                    "deleting node " + std::string(name) +
                        " not allowed: it is the runtime's own machine, and no other can take its place");
}

bool NodeService::Implementation::is_in_use(std::string_view name) const {
    std::lock_guard lock(mutex_);
    const auto ledger = ledgers_.find(name);
    return ledger != ledgers_.end() && !ledger->second.empty();
}

Started NodeService::Implementation::remove(std::string_view name, const NodeRemoval& removal,
                                            std::string requestor) {
    const auto node = parts_.nodes.get(name);
    if (!removal.force && is_in_use(name)) throw_in_use(name);
    require_other_machine(node->name);
    auto spec =
        spec_for("node.remove", "Deleting node", *node,
                 Json::object({{"node", node->name}, {"force", removal.force}}), std::move(requestor));
    Batch batch;
    parts_.nodes.stage_update(batch, node->name, [](Node& changed) { changed.status = NodeStatus::deleted; });
    return parts_.engine.start(std::move(spec), std::move(batch));
}

OperationResult NodeService::Implementation::run_removal(const Operation& operation) {
    const std::string name = node_of(operation);
    require_other_machine(name);
    const bool force = JsonFields(operation.arguments).boolean("force").value_or(false);
    for (int round = 0; force && remove_instances_ && is_in_use(name) && round < max_rounds; ++round)
        remove_instances_(name);
    if (is_in_use(name)) throw_in_use(name);
    OperationResult result;
    result.stage = [this, name](Batch& last) { parts_.nodes.stage_remove(last, name); };
    result.after = [this, name] {
        {
            std::lock_guard lock(mutex_);
            ledgers_.erase(name);
            table_.reset();
        }
        log::info("node removed", {{"node", name}});
    };
    return result;
}

OperationResult NodeService::Implementation::undo_removal(const Operation& operation) {
    OperationResult result;
    result.stage = [this, name = node_of(operation)](Batch& last) {
        if (!parts_.nodes.find(name)) return;
        parts_.nodes.stage_update(last, name, [](Node& node) { node.status = NodeStatus::online; });
    };
    return result;
}

}  // namespace svc
