#include "libsvc/services/instances/pool/pool_claims.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/services/instances/pool/late_data.h"
#include "libsvc/services/instances/pool/pool_match.h"

namespace svc {

namespace {

// Another launch, a deletion or the end of the instance was faster.
bool is_lost_race(const Error& error) {
    return error.code() == ErrorCode::conflict || error.code() == ErrorCode::busy ||
           error.code() == ErrorCode::not_found;
}

bool may_be_met(const PoolSettings& pool, const Instance& wanted) {
    return !has_data_for_guest(wanted) || (pool.late_data && can_be_told_late(wanted));
}

bool is_ready(const Instance& instance) {
    return instance.pooled && instance.status == InstanceStatus::running && !instance.stop_requested;
}

}  // namespace

PoolClaims::PoolClaims(Instances& instances, const Applications& applications, Runtime& runtime,
                       const NodeService& nodes, Engine& engine, const NewInstances& new_instances,
                       InstanceLauncher& launcher, InstanceChanges& changes, PoolPace& pace)
    : instances_(instances),
      applications_(applications),
      runtime_(runtime),
      nodes_(nodes),
      engine_(engine),
      new_instances_(new_instances),
      launcher_(launcher),
      changes_(changes),
      pace_(pace) {}

std::optional<Started> PoolClaims::claim(Instance wanted, PathWord word, const std::string& requestor) {
    if (wanted.app_id.empty()) return std::nullopt;
    const auto application = applications_.find(*wanted.app_id);
    if (!application || application->pool.empty()) return std::nullopt;
    new_instances_.give_identity(wanted);
    std::optional<Started> started;
    if (may_be_met(application->pool, wanted)) started = find_and_claim(wanted, word, requestor);
    pace_.note_launch(application->id.str(), started.has_value());
    return started;
}

std::optional<Started> PoolClaims::find_and_claim(const Instance& wanted, PathWord word,
                                                  const std::string& requestor) {
    for (const auto& pooled : instances_.list()) {
        if (!may_be_claimed(*pooled, wanted)) continue;
        try {
            return start(pooled->id.str(), wanted, word, requestor);
        } catch (const Error& e) {
            if (!is_lost_race(e)) throw;
        }
    }
    return std::nullopt;
}

bool PoolClaims::may_be_claimed(const Instance& pooled, const Instance& wanted) const {
    if (!is_ready(pooled) || !is_made_like(pooled, wanted)) return false;
    if (!wanted.wanted_node.empty() && wanted.wanted_node != pooled.node) return false;
    return nodes_.takes_instances(*pooled.node);
}

// The record is `started` until the operation ends, as that of any launch: `running` is told once, at the
// end.
Started PoolClaims::start(const std::string& id, const Instance& wanted, PathWord word,
                          const std::string& requestor) {
    auto spec = instance_operation("instance.claim", "Creating container", {.instance = id}, word, requestor);
    spec.id = wanted.launch_operation;
    Batch batch;
    instances_.stage_update(batch, id, [&](Instance& changed) {
        if (!is_ready(changed)) throw Error(ErrorCode::conflict, "container is claimed already");
        take_over(changed, wanted);
        changed.status = InstanceStatus::started;
    });
    Started started = engine_.start(std::move(spec), std::move(batch));
    failpoint("pool.claimed");
    log::info("container claimed", {{"container", id}, {"application", *wanted.app_name}});
    return started;
}

// When the machine was booted meanwhile there is no guest any more: then the launch goes all its way.
OperationResult PoolClaims::run(OperationContext& context) {
    const std::string id = InstanceWork::of(context.operation()).instance;
    if (context.resumed() && !is_running(runtime_, id)) return launcher_.run_launch(context);
    // Here, so that it comes before `running`. An interrupted process owes it, and the next one has told it.
    if (!context.resumed()) changes_.publish("container-claimed", id, context.operation().requestor);
    const auto instance = instances_.get(id);
    if (has_data_for_guest(*instance)) tell_guest(runtime_, *instance);
    failpoint("pool.told");
    return changes_.transition(
        id,
        [](Instance& instance) {
            if (instance.status != InstanceStatus::started) return false;
            instance.status = InstanceStatus::running;
            return true;
        },
        "container-running", context.operation().requestor);
}

}  // namespace svc
