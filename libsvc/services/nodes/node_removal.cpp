#include "libsvc/services/nodes/node_removal.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/operations/run_aside.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/nodes/node_operation.h"

namespace svc {

namespace {

constexpr std::size_t removals_at_once = 4;
constexpr std::size_t max_queued_removals = 10'000;
constexpr int max_rounds = 3;           // a launch may have chosen the node just before the request
constexpr std::size_t most_named = 10;  // instances in an error

void refuse_instances(const std::string& node, std::vector<std::string> ids) {
    if (ids.empty()) return;
    const std::size_t more = ids.size() - std::min(ids.size(), most_named);
    ids.resize(ids.size() - more);
    throw Error(ErrorCode::conflict, "node " + node + " is in use by instances " + join(ids, ", ") +
                                         (more == 0 ? "" : " and " + std::to_string(more) + " more"));
}

[[noreturn]] void throw_leads(const std::string& name) {
    throw Error(ErrorCode::conflict,
                "node " + name + " leads, and cannot leave the cluster until another one does");
}

}  // namespace

NodeRemovals::NodeRemovals(Nodes& nodes, RemovedNodes& removed, const NodeRegistry& registry,
                           NodeReservations& reservations, Engine& engine, MachineCluster* machine_cluster)
    : nodes_(nodes),
      removed_(removed),
      registry_(registry),
      reservations_(reservations),
      engine_(engine),
      machine_cluster_(machine_cluster),
      pool_("node-removals", removals_at_once, max_queued_removals) {
    engine_.handle("node.remove", {[this](OperationContext& context) { return run_on_pool(context); },
                                   [this](const Operation& o, const Error&) { return undo(o); }, true});
}

void NodeRemovals::on_forced_removal(std::function<void(const std::string& node)> remove_instances) {
    if (!remove_instances) pool_.stop();
    remove_instances_ = std::move(remove_instances);
}

bool NodeRemovals::leaves_cluster(const Node& node, const NodeRemoval& removal) const {
    return machine_cluster_ != nullptr && node.managed && !removal.keep_in_cluster;
}

// An addition that still waits for the machine is cancelled; an evacuation is waited for, so that what it
// moves is not deleted.
Started NodeRemovals::remove(std::string_view name, const NodeRemoval& removal, std::string requestor) {
    const auto node = nodes_.get(name);
    if (!removal.force) refuse_instances(node->name, reservations_.instances_on(name));
    const bool leaves = leaves_cluster(*node, removal);
    if (leaves && node->name == registry_.local_name()) throw_leads(node->name);
    auto spec = node_operation("node.remove", "Deleting node", *node, std::move(requestor));
    spec.wait_for_claims = true;
    spec.cancel_holders = reservations_.instances_on(name).empty();
    spec.arguments.set("force", removal.force);
    spec.arguments.set("keep_in_cluster", removal.keep_in_cluster || !node->managed);
    spec.arguments.set("leaves", leaves);
    // Its record may change at any moment: with its machine, and with an addition that waits for it.
    return retry_on_conflict([&] {
        Batch batch;
        nodes_.stage_update(batch, node->name, [](Node& changed) { changed.status = NodeStatus::deleted; });
        return engine_.start(spec, std::move(batch));
    });
}

// The deletions of the instances, which it waits for, need workers of the engine.
OperationResult NodeRemovals::run_on_pool(OperationContext& context) {
    return run_aside(context, pool_, "too many nodes are being removed",
                     [this, operation = context.operation()](const auto&) { return run(operation); });
}

OperationResult NodeRemovals::run(const Operation& operation) {
    const std::string name = node_of(operation);
    const JsonFields arguments(operation.arguments);
    const bool force = arguments.boolean("force").value_or(false);
    const bool leaves = arguments.boolean("leaves").value_or(false);
    // One that has left comes back on request alone: it would join again by itself.
    const bool keep = leaves || arguments.boolean("keep_in_cluster").value_or(false);
    const auto is_in_use = [&] { return !reservations_.instances_on(name).empty(); };
    for (int round = 0; force && remove_instances_ && is_in_use() && round < max_rounds; ++round)
        remove_instances_(name);
    refuse_instances(name, reservations_.instances_on(name));
    if (leaves && machine_cluster_ != nullptr) machine_cluster_->remove(name, force);
    OperationResult result;
    result.stage = [this, name, keep](Batch& last) { stage_end(last, name, keep); };
    result.after = [this, name] {
        reservations_.forget(name);
        log::info("node removed", {{"node", name}});
    };
    return result;
}

void NodeRemovals::stage_end(Batch& last, const std::string& name, bool keeps_manager) {
    nodes_.stage_remove(last, name);
    if (!keeps_manager && registry_.machines().find(name) == nullptr) return;
    if (removed_.find(name))
        removed_.stage_update(last, name, [&](RemovedNode& mark) { mark.keeps_manager = keeps_manager; });
    else
        removed_.stage_create(last, {name, keeps_manager});
}

OperationResult NodeRemovals::undo(const Operation& operation) {
    OperationResult result;
    result.stage = [this, name = node_of(operation)](Batch& last) {
        if (!nodes_.find(name)) return;
        const bool online = registry_.machines().is_online(name);
        nodes_.stage_update(last, name, [online](Node& node) {
            node.status = online ? NodeStatus::online : NodeStatus::offline;
        });
    };
    return result;
}

}  // namespace svc
