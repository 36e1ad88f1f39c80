#include "libsvc/services/instances/launch/abandoned_launches.h"

#include <memory>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"

namespace svc {

namespace {

constexpr const char* cancelled_launch = "launch was cancelled";

// Of a protected instance nothing but a record that was never scheduled is removed.
bool outlives_launch(const Instance& instance) {
    return instance.config->delete_protected && instance.status != InstanceStatus::created;
}

}  // namespace

AbandonedLaunches::AbandonedLaunches(Instances& instances, Runtime& runtime, NodeService& nodes,
                                     Content& content, InstanceFailures& failures, InstanceChanges& changes)
    : instances_(instances),
      runtime_(runtime),
      nodes_(nodes),
      content_(content),
      failures_(failures),
      changes_(changes) {}

OperationResult AbandonedLaunches::forget(const InstancePtr& instance, bool failed,
                                          const std::string& requestor) {
    const std::string id = instance->id.str();
    if (outlives_launch(*instance)) return failures_.fail({id, cancelled_launch}, requestor);
    try {
        runtime_.remove(id);
    } catch (const Error& e) {
        return failures_.fail({id, "container could not be removed: " + std::string(e.what())}, requestor);
    }
    failpoint("abandoned.removed");
    OperationResult gone = drop_record(instance, failed, requestor);
    OperationResult kept = keep_record(instance, requestor);
    OperationResult result;
    result.stage = [gone = gone.stage, kept = kept.stage](Batch& last) {
        gone(last);
        kept(last);
    };
    result.after = [gone = gone.after, kept = kept.after] {
        gone();
        kept();
    };
    return result;
}

OperationResult AbandonedLaunches::drop_record(const InstancePtr& instance, bool failed,
                                               const std::string& requestor) {
    const std::string id = instance->id.str();
    const auto applied = std::make_shared<bool>(false);
    OperationResult result;
    result.stage = [this, id, applied](Batch& last) {
        const auto now = instances_.find(id);
        *applied = now && now->status != InstanceStatus::deleted && !outlives_launch(*now);
        if (*applied) instances_.stage_remove(last, id);
    };
    result.after = [this, id, applied, failed, instance, requestor] {
        if (!*applied) return;
        nodes_.release_all(*instance);
        if (failed) changes_.publish("container-failed", id, requestor);
        changes_.publish("container-removed", id, requestor);
        content_.drop_layers(instance->layers);
        changes_.tell_released(*instance);
    };
    return result;
}

// The container is gone already: the next start makes another one.
OperationResult AbandonedLaunches::keep_record(const InstancePtr& instance, const std::string& requestor) {
    return changes_.transition(
        instance->id.str(),
        [](Instance& changed) {
            if (!outlives_launch(changed) || !may_move(changed.status, InstanceStatus::error)) return false;
            changed.status = InstanceStatus::error;
            changed.error_message = cancelled_launch;
            clear_reservation(changed);
            return true;
        },
        "container-failed", requestor,
        [this, instance] {
            nodes_.release_all_but_disk(*instance);
            changes_.tell_released(*instance);
        });
}

}  // namespace svc
