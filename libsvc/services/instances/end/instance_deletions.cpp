#include "libsvc/services/instances/end/instance_deletions.h"

#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/instances/end/release_after_commit.h"
#include "libsvc/services/instances/repair/found_container.h"

namespace svc {

namespace {

// How long a forced removal of a node waits for the deletion of one instance.
constexpr Duration removal_limit = std::chrono::minutes(5);

void check_unprotected(const Instance& instance) {
    if (!instance.config->delete_protected) return;
    const std::string& name = instance.own_name.empty() ? instance.id.str() : *instance.own_name;
    throw Error(ErrorCode::forbidden, "deleting protected container " + quoted(name) + " not allowed");
}

}  // namespace

InstanceDeletions::InstanceDeletions(Instances& instances, Runtime& runtime, NodeService& nodes,
                                     Content& content, Engine& engine, const Clock& clock,
                                     const StoredLogs& logs, PendingBoots& boots, EndHooks& hooks,
                                     InstanceFailures& failures, const InstanceStops& stops,
                                     InstanceChanges& changes)
    : instances_(instances),
      runtime_(runtime),
      nodes_(nodes),
      content_(content),
      engine_(engine),
      clock_(clock),
      logs_(logs),
      boots_(boots),
      hooks_(hooks),
      failures_(failures),
      stops_(stops),
      changes_(changes) {}

Started InstanceDeletions::start(const InstanceWork& work, PathWord word, const std::string& requestor,
                                 bool again, const std::function<void(Instance&)>& change) {
    bool base = false;
    auto started = retry_on_conflict([&] {
        const auto instance = instances_.get(work.instance);
        base = instance->type == InstanceType::base;
        const bool deleting = instance->status == InstanceStatus::deleted;
        if (deleting && !again) throw_being_deleted();
        auto spec = instance_operation("instance.delete", "Deleting container", work, word, requestor);
        spec.wait_for_claims = true;
        Batch batch;
        if (!deleting || change)
            instances_.stage_update(batch, work.instance, [&](Instance& changed) {
                check_unprotected(changed);
                changed.status = InstanceStatus::deleted;
                if (change) change(changed);
            });
        return engine_.start(std::move(spec), std::move(batch));
    });
    // The start of a guest that is going away ends now and frees the claim.
    boots_.settle(work.instance, Error(ErrorCode::cancelled, "container is being deleted"));
    if (work.force || base) hooks_.interrupt(work.instance);
    return started;
}

void InstanceDeletions::remove_all_on(const std::string& node) {
    const auto instances = instances_.list();
    for (const auto& instance : instances)  // all of them or none
        if (instance->node == node) check_unprotected(*instance);
    std::vector<Started> deletions;
    for (const auto& instance : instances) {
        if (instance->node != node) continue;
        try {
            const InstanceWork work{.instance = instance->id.str(), .force = true};
            deletions.push_back(start(work, PathWord::containers, "service", true));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;
        }
    }
    for (const Started& deletion : deletions) await_deletion(*deletion);
    // Those whose record is gone already give back what their instance held before they end.
    for (const Started& operation : engine_.list())
        if (operation->kind == "instance.delete" && !is_final(operation->status))
            engine_.wait(operation->id.str(), removal_limit);
}

// The deletion itself goes on whatever this throws. When the service stops, `unavailable` leaves the removal
// of the node for the next start.
void InstanceDeletions::await_deletion(const Operation& deletion) {
    const SteadyTime end = clock_.steady_now() + removal_limit;
    const auto done = engine_.wait(deletion.id.str(), removal_limit);
    if (done->status == OperationStatus::success) return;
    if (!is_final(done->status) && clock_.steady_now() < end)
        throw Error(ErrorCode::unavailable, "service is stopping");
    const std::string reason = is_final(done->status) ? done->err : "it takes too long";
    throw Error(ErrorCode::internal,
                "container " + InstanceWork::of(deletion).instance + " cannot be deleted: " + reason);
}

OperationResult InstanceDeletions::run(OperationContext& context) {
    const InstanceWork work = InstanceWork::of(context.operation());
    hooks_.forget_interrupt(work.instance);  // what it was about is over
    const auto instance = instances_.find(work.instance);
    if (!instance) return {};  // removed with the launch that this deletion has cancelled
    return hooks_.run_around(
        context, *instance, work.force ? Duration::zero() : stops_.grace(*instance),
        [this, instance, force = work.force, requestor = context.operation().requestor](
            const std::stop_token& stop) { return remove(instance, force, requestor, stop); });
}

OperationResult InstanceDeletions::remove(const InstancePtr& instance, bool force,
                                          const std::string& requestor, const std::stop_token& stop) {
    const std::string id = instance->id.str();
    const bool graceful = !force && instance->type != InstanceType::base;
    const FoundContainer found = FoundContainer::look(runtime_, id);
    if (graceful && found.exists && !found.unreadable) {
        runtime_.stop(id, stops_.grace(*instance));
        failpoint("delete.stopped");
        hooks_.run(*instance, 0, stop);
    }
    remove_container(*instance, force);
    failpoint("delete.container_removed");
    OperationResult result;
    result.stage = [this, id](Batch& last) { instances_.stage_remove(last, id); };
    result.after = [this, instance, requestor] {
        changes_.publish("container-removed", instance->id.str(), requestor);
        failpoint("delete.announced");
        content_.drop_layers(instance->layers);
        logs_.drop(instance->id.str(), instance->stored_logs);
        log::info("container deleted", {{"container", instance->id.str()}});
        changes_.tell_released(*instance);
    };
    return release_after_commit(std::move(result), instances_, nodes_, instance, false);
}

void InstanceDeletions::check_within_reach(const Instance& instance) const {
    if (instance.node.empty() || nodes_.is_within_reach(*instance.node)) return;
    throw Error(ErrorCode::unavailable, "deleting the container not possible: node " + *instance.node +
                                            " is offline. By force its record is deleted now, and the "
                                            "container when the node is back");
}

// The reconciler removes what is found without a record when the node is back.
void InstanceDeletions::remove_container(const Instance& instance, bool force) {
    try {
        runtime_.remove(instance.id.str());
    } catch (const Error& e) {
        const bool may_be_left = force && e.code() == ErrorCode::unavailable && !instance.node.empty();
        if (!may_be_left || nodes_.is_within_reach(*instance.node)) throw;
        log::warning("container is left on a node that is offline",
                     {{"container", instance.id.str()}, {"node", *instance.node}});
    }
}

// `error` lets the client try again, perhaps by force.
OperationResult InstanceDeletions::undo(const Operation& operation, const Error& error) {
    const std::string id = InstanceWork::of(operation).instance;
    const auto instance = instances_.find(id);
    if (!instance) return {};
    auto logs = failures_.collect_logs(id);
    const bool stopped = failures_.stop_container(id);
    auto ended = changes_.transition(
        id,
        [reason = clipped("deletion failed: " + std::string(error.what()), max_error_bytes), stopped,
         logs](Instance& changed) {
            changed.status = InstanceStatus::error;
            changed.error_message = reason;
            if (!logs.empty()) changed.stored_logs = logs;
            if (stopped) {
                clear_reservation(changed);
                changed.status_when_readable = InstanceStatus::unknown;  // it cannot be that again
            }
            return true;
        },
        "container-failed", operation.requestor);
    ended = failures_.settle_logs(std::move(ended), instance, std::move(logs));
    return stopped ? release_after_commit(std::move(ended), instances_, nodes_, instance, true) : ended;
}

}  // namespace svc
