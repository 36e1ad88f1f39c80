#include "libsvc/services/instances/end/node_evacuations.h"

#include <limits>
#include <set>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/nodes/node_operation.h"

namespace svc {

namespace {

constexpr const char* evacuation_kind = "node.evacuate";

// Of those that are being deleted, were, or could not be.
std::set<std::string> begun_deletions(const Engine& engine) {
    std::set<std::string> ids;
    for (const Started& operation : engine.list())
        if (operation->kind == "instance.delete") ids.insert(InstanceWork::of(*operation).instance);
    return ids;
}

}  // namespace

NodeEvacuations::NodeEvacuations(const Instances& instances, Nodes& node_records, const NodeService& nodes,
                                 Engine& engine, Timer& timer, EvacuationCalls calls)
    : node_records_(node_records),
      parts_{instances, nodes, engine, timer, std::move(calls)},
      thread_("evacuations", 1, std::numeric_limits<std::size_t>::max()) {
    engine.handle(evacuation_kind, {[this](OperationContext& context) { return run(context); },
                                    [this](const Operation& o, const Error&) { return undo(o); }, true});
}

Started NodeEvacuations::start(std::string_view name, EvacuationMode mode, const std::string& requestor) {
    return retry_on_conflict([&] {
        const auto node = node_records_.get(name);
        auto spec = node_operation(evacuation_kind, "Evacuating node " + node->name, *node, requestor);
        spec.arguments.set("mode", to_text(mode));
        spec.cancellable = true;
        Batch batch;
        node_records_.stage_update(batch, node->name, [](Node& changed) { changed.unschedulable = true; });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

OperationResult NodeEvacuations::run(OperationContext& context) {
    const Operation& operation = context.operation();
    auto plan = evacuation_plan(operation);
    if (!plan) {
        plan = make_plan(operation);
        context.keep(plan->to_json());
        failpoint("evacuation.planned");
    }
    auto end = [this, node = node_of(operation)](Json outcomes) {
        OperationResult result;
        result.metadata = Json::object({{"instances", std::move(outcomes)}});
        result.stage = [this, node](Batch& last) { stage_end(last, node); };
        return result;
    };
    std::make_shared<EvacuationRun>(parts_, thread_, context, std::move(*plan), std::move(end))->begin();
    return {};
}

EvacuationPlan NodeEvacuations::make_plan(const Operation& operation) const {
    const std::string node = node_of(operation);
    EvacuationPlan plan{evacuation_mode(operation)};
    for (const auto& instance : parts_.instances.list())
        if (*instance->node == node) plan.moves.push_back(plan_move(*instance, plan.mode));
    return plan;
}

EvacuationMove NodeEvacuations::plan_move(const Instance& instance, EvacuationMode mode) const {
    EvacuationMove move{.instance = instance.id.str()};
    if (instance.type == InstanceType::base)
        move.outcome = "ends with its bootstrap";
    else if (mode == EvacuationMode::stop && !may_be_up(instance.status))
        move.outcome = "does not run";
    if (mode != EvacuationMode::relaunch || !move.outcome.empty()) return move;
    move.name = *instance.own_name;
    move.successor = parts_.calls.new_id();
    return move;
}

void NodeEvacuations::stage_end(Batch& last, const std::string& node) {
    if (!node_records_.find(node)) return;
    node_records_.stage_update(last, node, [](Node& emptied) {
        emptied.evacuated = emptied.unschedulable;
        if (emptied.evacuated && emptied.status == NodeStatus::online) emptied.status = NodeStatus::evacuated;
    });
}

// Waits for nothing: what it begins goes on by itself.
OperationResult NodeEvacuations::undo(const Operation& operation) {
    const auto plan = evacuation_plan(operation);
    if (!plan || plan->mode != EvacuationMode::relaunch) return {};
    const auto begun = begun_deletions(parts_.engine);
    for (const EvacuationMove& move : plan->moves) try {
            undo_move(move, begun.contains(move.instance), operation.requestor);
        } catch (const Error& e) {
            log::warning("successor is left as it is", {{"container", move.successor}, {"error", e.what()}});
        }
    return {};
}

void NodeEvacuations::undo_move(const EvacuationMove& move, bool is_replaced,
                                const std::string& requestor) const {
    const auto successor = parts_.instances.find(move.successor);
    if (!successor || successor->status == InstanceStatus::deleted) return;
    if (is_replaced || !parts_.instances.find(move.instance)) {
        if (*successor->own_name != move.name) parts_.calls.give_name(move.successor, move.name);
    } else if (successor->status != InstanceStatus::error) {  // that one has logs of why it failed
        parts_.calls.remove(move.successor, true, false, requestor);
    }
}

}  // namespace svc
