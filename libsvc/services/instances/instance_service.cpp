#include "libsvc/services/instances/instance_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/instances/launch/container_spec.h"
#include "libsvc/services/instances/launch/launch_source.h"
#include "libsvc/services/instances/repair/unreadable_instances.h"

namespace svc {

namespace {

[[noreturn]] void throw_not_allowed(const std::string& what, InstanceStatus status) {
    throw Error(ErrorCode::invalid_argument,
                what + " a container that is " + std::string(to_text(status)) + " not allowed");
}

bool is_wish(std::string_view status) {
    return status == "running" || status == "paused" || status == "stopped" || status == "restarted";
}

// The same guest, with a new disk and what is reserved for it anew. One that does not run is not started.
Instance successor_of(const Instance& instance) {
    Instance made;
    static_cast<GuestDescription&>(made) = instance;
    made.config = instance.config;
    made.tags = instance.tags;
    made.lifetime = instance.lifetime;
    made.instance_type = instance.instance_type;
    made.gpu_type = instance.gpu_type;
    made.prefers_gpu_encoder = instance.prefers_gpu_encoder;
    made.user_data = instance.user_data;
    made.services = instance.services;
    for (ServiceEntry& service : made.services) service.node_port = service.node_port_end = 0;
    const InstanceStatus status = is_set_aside(instance) ? instance.status_when_readable : instance.status;
    made.no_start = instance.no_start || !may_be_up(status);
    return made;
}

}  // namespace

InstanceService::InstanceService(InstanceServiceParts parts)
    : parts_(std::move(parts)),
      timer_(std::make_unique<Timer>(parts_.clock, "instances")),
      logs_(parts_.content, parts_.options.log_dir, parts_.options.max_log_bytes),
      boot_clock_(parts_.clock, parts_.options.boot_id),
      limit_(parts_.options.boot_timeout, boot_clock_),
      sessions_(parts_.session_template, parts_.service_reach, parts_.config, parts_.tokens, parts_.nodes,
                limit_),
      changes_(parts_.instances, parts_.events),
      boots_(*timer_),
      hooks_(parts_.instances, parts_.runtime, limit_),
      failures_(parts_.instances, parts_.runtime, parts_.nodes, parts_.content, logs_, hooks_, changes_),
      abandoned_(parts_.instances, parts_.runtime, parts_.nodes, parts_.content, failures_, changes_),
      stops_(parts_.instances, parts_.runtime, parts_.nodes, parts_.clock, boot_clock_, limit_,
             parts_.options.stop_grace, hooks_, failures_, changes_),
      pauses_(parts_.instances, parts_.runtime, changes_),
      deletions_(parts_.instances, parts_.runtime, parts_.nodes, parts_.content, parts_.engine, parts_.clock,
                 logs_, boots_, hooks_, failures_, stops_, changes_),
      launcher_({parts_.instances, parts_.runtime, parts_.nodes, parts_.config, parts_.engine, limit_,
                 sessions_, logs_, boots_, failures_, abandoned_, changes_}),
      repair_(parts_.instances, parts_.runtime, parts_.engine, *timer_, changes_,
              [this](const Instance& instance) { return launcher_.specification(instance); }),
      reports_(parts_.instances, parts_.engine, parts_.clock, boots_, hooks_, repair_),
      reconciler_(parts_.instances, parts_.runtime, parts_.engine, parts_.clock, boot_clock_,
                  parts_.options.linger, boots_, repair_, reports_, deletions_),
      new_instances_(parts_.instances, parts_.nodes, parts_.engine, parts_.clock, boot_clock_, parts_.ids,
                     changes_),
      base_(parts_.instances, parts_.content, parts_.config, parts_.engine, *timer_, new_instances_,
            deletions_),
      pool_pace_(parts_.clock),
      pool_room_(parts_.instances, parts_.nodes, pool_pace_,
                 [this](const std::string& id) { remove_pooled(id, "service"); }),
      pool_claims_(parts_.instances, parts_.applications, parts_.runtime, parts_.nodes, parts_.engine,
                   new_instances_, launcher_, changes_, pool_pace_),
      pool_keeper_({parts_.instances,
                    {parts_.images, parts_.applications, parts_.addons, parts_.snapshots},
                    parts_.config,
                    parts_.nodes,
                    parts_.engine,
                    parts_.events,
                    pool_pace_,
                    {[this](Instance made) { return launch_like(std::move(made), "service"); },
                     [this](const std::string& id) { remove_pooled(id, "service"); }}}),
      evacuations_(parts_.instances, parts_.node_records, parts_.nodes, parts_.engine, *timer_,
                   evacuation_calls()),
      uses_(parts_.clock) {
    register_kinds();
    new_instances_.on_shortage([this](const Instance& instance) { return pool_room_.make_for(instance); });
    parts_.nodes.on_forced_removal([this](const std::string& node) { deletions_.remove_all_on(node); });
}

void InstanceService::recover() {
    recovered_ = true;
    const auto instances = parts_.instances.list();
    parts_.nodes.adopt(instances);
    for (const auto& instance : instances) {
        parts_.content.hold_layers(instance->layers);
        logs_.hold(instance->stored_logs);
    }
    for (const auto& broken : parts_.instances.unreadable()) adopt_unreadable(broken.id);
    publish_unpublished_events(parts_.instances, parts_.events, parts_.engine, changes_);
    parts_.runtime.on_event([this](const RuntimeEvent& event) { reconciler_.on_runtime_event(event); });
    changes_.follow_public_addresses(parts_.nodes);
    parts_.nodes.on_changed({[this] { reconciler_.remove_unrecorded(); },
                             [this] {
                                 changes_.follow_public_addresses(parts_.nodes);
                                 reconciler_.reconcile();
                             }});
}

// Its guest may run: nobody else may get its address and ports.
void InstanceService::adopt_unreadable(const std::string& id) {
    const auto container = parts_.runtime.specification(id);
    if (!container) return;
    const Instance instance = instance_like(*container, node_of(*container));
    parts_.nodes.adopt({std::make_shared<const Instance>(instance)});
}

std::string InstanceService::node_of(const ContainerSpec& container) const {
    return container.node.empty() ? parts_.nodes.local_name() : container.node;
}

void InstanceService::clear_unreadable(const std::string& id) {
    const auto container = parts_.runtime.specification(id);
    parts_.runtime.remove(id);
    Instance instance;
    instance.id = InstanceId(id);
    instance.node = container ? node_of(*container) : parts_.nodes.local_name();
    parts_.nodes.release_all(instance);
    logs_.drop_former(id);
}

// First whoever calls the parts from a thread of its own.
InstanceService::~InstanceService() {
    stop_expiry();
    if (recovered_) parts_.runtime.on_event(nullptr);
    parts_.nodes.on_changed({});
    parts_.nodes.on_forced_removal(nullptr);
    evacuations_.stop();
    hooks_.stop();
    timer_.reset();
}

void InstanceService::register_kinds() {
    using Run = std::function<OperationResult(OperationContext&)>;
    using Undo = std::function<OperationResult(const Operation&, const Error&)>;
    const auto handle = [this](const char* kind, Run run, Undo undo) {
        parts_.engine.handle(kind, OperationHandler{std::move(run), std::move(undo), true});
    };
    handle(
        "instance.launch", [this](OperationContext& c) { return launcher_.run_launch(c); },
        [this](const Operation& o, const Error& e) { return launcher_.undo_launch(o, e); });
    handle(
        "instance.claim", [this](OperationContext& c) { return pool_claims_.run(c); },
        [this](const Operation& o, const Error& e) { return launcher_.undo_launch(o, e); });
    handle(
        "instance.start", [this](OperationContext& c) { return launcher_.run_start(c); },
        [this](const Operation& o, const Error& e) { return launcher_.undo_start(o, e); });
    handle(
        "instance.stop", [this](OperationContext& c) { return stops_.run(c); },
        [this](const Operation& o, const Error& e) { return stops_.undo(o, e); });
    const Undo undo_pause = [this](const Operation& o, const Error&) { return pauses_.undo(o); };
    handle(
        "instance.pause", [this](OperationContext& c) { return pauses_.run_pause(c.operation()); },
        undo_pause);
    handle(
        "instance.resume", [this](OperationContext& c) { return pauses_.run_resume(c.operation()); },
        undo_pause);
    handle_restarts(parts_.engine, parts_.instances, restart_calls());
    for (const char* kind :
         {"instance.protect", "instance.extend"})  // the commit that starts it does everything
        handle(
            kind, [](OperationContext&) { return OperationResult{}; }, nullptr);
    handle(
        "instance.fail", [this](OperationContext& c) { return failures_.run(c); }, nullptr);
    handle(
        "instance.recheck", [this](OperationContext& c) { return repair_.run_recheck(c); }, nullptr);
    handle(
        "instance.delete", [this](OperationContext& c) { return deletions_.run(c); },
        [this](const Operation& o, const Error& e) { return deletions_.undo(o, e); });
}

Started InstanceService::launch(const InstanceCreate& request, bool no_wait, PathWord word,
                                const std::string& requestor) {
    return retry_on_conflict([&] { check_name_is_free(request.name); },
                             [&] { return launch_once(request, no_wait, word, requestor); });
}

Started InstanceService::launch_once(const InstanceCreate& request, bool no_wait, PathWord word,
                                     const std::string& requestor) {
    const LaunchRecords records{parts_.images, parts_.applications, parts_.addons, parts_.snapshots};
    const ConfigValues config = parts_.config.values();
    const LaunchSource chosen = find_launch_source(request, records, config);
    if (!request.node.empty()) parts_.nodes.check_wanted(request.node);
    Instance wanted = chosen.instance;
    wanted.lifetime = request.lifetime.applied_to({}, parts_.clock.now());
    if (auto claimed = pool_claims_.claim(std::move(wanted), word, requestor)) return *claimed;
    parts_.content.hold_layers(chosen.instance.layers);
    Rollback undo;
    undo.add("holding layers", [&] { parts_.content.drop_layers(chosen.instance.layers); });
    // The layers are held now: a source that is still there cannot lose them any more.
    Instance instance = find_launch_source(pinned(request, chosen), records, config).instance;
    new_instances_.give_identity(instance);
    instance.lifetime = request.lifetime.applied_to({}, instance.created_at);
    auto spec = instance_operation("instance.launch", "Creating container",
                                   {.instance = instance.id.str(), .no_wait = no_wait}, word, requestor);
    spec.cancellable = true;
    Batch batch;
    require_addons(batch, instance);
    Started started = new_instances_.launch(instance, std::move(spec), std::move(batch));
    undo.dismiss();
    return started;
}

EvacuationCalls InstanceService::evacuation_calls() {
    constexpr PathWord word = PathWord::containers;
    return {
        [this](const Instance& instance, const std::string& requestor) {
            return set_desired_status(instance.id.str(), "stopped", false, word, requestor);
        },
        [this](const std::string& id, bool force, bool nameless, const std::string& requestor) {
            std::function<void(Instance&)> change;
            if (nameless) change = [](Instance& instance) { instance.own_name = {}; };
            return deletions_.start({.instance = id, .force = force}, word, requestor, true, change);
        },
        [this](const std::string& id, const std::string& requestor) { return remove_pooled(id, requestor); },
        [this] { return parts_.ids.object_id(); },
        [this](const Instance& instance, const std::string& successor, const std::string& requestor) {
            return retry_on_conflict([&] { return launch_elsewhere(instance, successor, requestor); });
        },
        [this](const std::string& successor, const std::string& name) {
            parts_.instances.update(successor, [&](Instance& instance) { instance.own_name = name; });
        }};
}

// Its guest was never anybody's: it needs no end. Busy: a launch has claimed it.
Started InstanceService::remove_pooled(const std::string& id, const std::string& requestor) {
    return deletions_.start({.instance = id, .force = true}, PathWord::containers, requestor, true,
                            [](const Instance& instance) {
                                if (!instance.pooled) throw Error(ErrorCode::busy, "container was claimed");
                            });
}

// The new one gets the name of the old one when that goes.
Started InstanceService::launch_elsewhere(const Instance& instance, const std::string& successor,
                                          const std::string& requestor) {
    if (instance.config->delete_protected)
        throw Error(ErrorCode::forbidden, "launching a protected container elsewhere not allowed");
    Instance made = successor_of(instance);
    made.id = InstanceId(successor);
    return launch_like(std::move(made), requestor);
}

Started InstanceService::launch_like(Instance made, const std::string& requestor) {
    parts_.content.hold_layers(made.layers);
    Rollback undo;
    undo.add("holding layers", [&] { parts_.content.drop_layers(made.layers); });
    new_instances_.give_identity(made);
    auto spec = instance_operation("instance.launch", "Creating container", {.instance = made.id.str()},
                                   PathWord::containers, requestor);
    Batch batch;
    require_addons(batch, made);
    Started started = new_instances_.launch(made, std::move(spec), std::move(batch));
    undo.dismiss();
    return started;
}

// Of two launches that ask for the same name at the same moment one meets a conflict, and then sees the
// other.
void InstanceService::check_name_is_free(const std::string& name) const {
    if (!name.empty() && parts_.instances.find(name))
        throw Error(ErrorCode::conflict, "container " + quoted(name) + " already exists");
}

// Writes the addons that the instance will fetch as they are, so that a deletion of one of them at the same
// moment meets a conflict, and then sees this instance.
void InstanceService::require_addons(Batch& batch, const Instance& instance) const {
    for (const PackageRef& package : instance.packages) {
        if (package.is_application || !package.fetch) continue;
        parts_.addons.stage_update(batch, package.name, [&](Addon& addon) {
            const AddonVersion* const version = addon.version(package.version);
            if (addon.deleting || version == nullptr || version->deleting)
                throw Error(ErrorCode::not_found, "addon not found");
        });
    }
}

Started InstanceService::remove(std::string_view id, bool force, PathWord word,
                                const std::string& requestor) {
    const auto instance = parts_.instances.get(id);
    if (!force && is_set_aside(*instance)) deletions_.check_within_reach(*instance);
    const InstanceWork work{.instance = instance->id.str(), .force = force};
    return deletions_.start(work, word, requestor);
}

Started InstanceService::change_at_once(const char* kind, std::string_view id,
                                        const std::function<void(Instance&)>& change, PathWord word,
                                        const std::string& requestor) {
    return retry_on_conflict([&] {
        const InstanceWork work{.instance = parts_.instances.get(id)->id.str()};
        auto spec = instance_operation(kind, "Updating container", work, word, requestor);
        spec.claims.clear();
        Batch batch;
        parts_.instances.stage_update(batch, work.instance, [&change](Instance& changed) {
            if (changed.status == InstanceStatus::deleted) throw_being_deleted();
            change(changed);
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

Started InstanceService::protect(std::string_view id, bool wanted, PathWord word,
                                 const std::string& requestor) {
    const auto change = [wanted](Instance& changed) {
        if (changed.type == InstanceType::base)
            throw Error(ErrorCode::invalid_argument, "protecting a base container not allowed");
        check_not_pooled(changed, "protecting");
        changed.config.change([wanted](InstanceConfig& config) { config.delete_protected = wanted; });
    };
    return change_at_once("instance.protect", id, change, word, requestor);
}

Started InstanceService::extend(std::string_view id, const LifetimeWish& wish, PathWord word,
                                const std::string& requestor) {
    const auto change = [&wish, now = parts_.clock.now()](Instance& changed) {
        if (changed.type == InstanceType::base)
            throw Error(ErrorCode::invalid_argument, "a time to live of a base container not allowed");
        check_not_pooled(changed, "extending");
        changed.lifetime = wish.applied_to(changed.lifetime, now);
    };
    Started started = change_at_once("instance.extend", id, change, word, requestor);
    if (wish.idle_after) uses_.note(InstanceWork::of(*started).instance);
    return started;
}

void InstanceService::start_expiry() {
    const auto remove = [this](const std::string& id, const std::string& requestor, const Lifetime& limits) {
        return remove_expired(id, requestor, limits);
    };
    expiry_ = std::make_unique<InstanceExpiry>(InstanceExpiryParts{
        parts_.instances, parts_.listener, uses_, parts_.clock, remove, parts_.options.on_expiry});
}

std::string InstanceService::remove_expired(const std::string& id, const std::string& requestor,
                                            const Lifetime& limits) {
    const auto instance = parts_.instances.get(id);
    if (is_set_aside(*instance)) deletions_.check_within_reach(*instance);
    const InstanceWork work{.instance = id};
    const auto check = [&limits](Instance& changed) { check_limits(changed, limits); };
    return deletions_.start(work, PathWord::instances, requestor, false, check)->id.str();
}

Started InstanceService::set_desired_status(std::string_view id, std::string_view status, bool no_wait,
                                            PathWord word, const std::string& requestor) {
    return retry_on_conflict([&]() -> Started {
        const auto instance = parts_.instances.get(id);
        if (instance->status == InstanceStatus::deleted) throw_being_deleted();
        if (!is_wish(status))
            throw Error(ErrorCode::invalid_argument,
                        "argument desired_status is invalid: must be running, paused, stopped or restarted");
        if (instance->type == InstanceType::base)
            throw Error(ErrorCode::invalid_argument,
                        "starting, pausing or stopping a base container not allowed");
        check_not_pooled(*instance, "starting, pausing or stopping");
        uses_.note(instance->id.str());
        if (status == "paused") return pause(*instance, word, requestor);
        if (status == "restarted") return restart(*instance, word, requestor);
        if (status == "stopped") return stop(*instance, word, requestor);
        if (is_paused(*instance)) return resume(*instance, word, requestor);
        return start(*instance, no_wait, word, requestor);
    });
}

// The reason is that of now: the fault may just have gone, while the record still says otherwise.
void InstanceService::throw_unreadable(const std::string& id) {
    const auto container = parts_.runtime.inspect(id);
    repair_.check_later(id);
    if (container && container->state == ContainerState::unreadable)
        throw Error(ErrorCode::unavailable, "container cannot be read: " + container->fault);
    throw Error(ErrorCode::busy, "container can be read again and is being looked at");
}

Started InstanceService::start(const Instance& instance, bool no_wait, PathWord word,
                               const std::string& requestor, const std::string& operation) {
    if (may_be_up(instance.status)) throw Error(ErrorCode::invalid_argument, "Already running");
    if (is_set_aside(instance)) throw_unreadable(instance.id.str());
    if (!may_move(instance.status, InstanceStatus::started)) throw_not_allowed("starting", instance.status);
    const InstanceWork work{.instance = instance.id.str(), .no_wait = no_wait};
    Batch batch;
    // stop_requested stays until it has started: expire() must not take it
    parts_.instances.stage_update(batch, work.instance,
                                  [now = parts_.clock.now(), mark = boot_clock_.mark()](Instance& changed) {
                                      changed.start_requested_at = now;
                                      changed.start_mark = mark;
                                  });
    auto spec = instance_operation("instance.start", "Updating container", work, word, requestor);
    spec.id = operation;
    if (!operation.empty()) {  // a restart waits for what somebody else has begun meanwhile
        spec.wait_for_claims = true;
        spec.cancel_holders = false;
    }
    return parts_.engine.start(std::move(spec), std::move(batch));
}

// The launch or start of an instance that still boots is given up: it ends first, and leaves the instance to
// this stop.
Started InstanceService::stop(const Instance& instance, PathWord word, const std::string& requestor,
                              const std::string& operation) {
    if (!may_be_up(instance.status)) throw_not_allowed("stopping", instance.status);
    const bool boots = instance.status == InstanceStatus::started;
    if (boots && instance.stop_requested)
        throw Error(ErrorCode::busy, "stopping the container already in progress");
    const InstanceWork work{.instance = instance.id.str()};
    Batch batch;
    parts_.instances.stage_update(batch, work.instance, [](Instance& changed) {
        if (!may_be_up(changed.status)) throw_not_allowed("stopping", changed.status);
        changed.stop_requested = true;
    });
    auto spec = instance_operation("instance.stop", "Updating container", work, word, requestor);
    spec.id = operation;
    spec.wait_for_claims = boots;
    Started started = parts_.engine.start(std::move(spec), std::move(batch));
    if (boots) boots_.settle(work.instance, Error(ErrorCode::cancelled, "container is being stopped"));
    return started;
}

Started InstanceService::pause(const Instance& instance, PathWord word, const std::string& requestor) {
    if (is_paused(instance)) throw Error(ErrorCode::invalid_argument, "Already paused");
    if (is_set_aside(instance)) throw_unreadable(instance.id.str());
    if (instance.status != InstanceStatus::running) throw_not_allowed("pausing", instance.status);
    const InstanceWork work{.instance = instance.id.str()};
    return parts_.engine.start(
        instance_operation("instance.pause", "Updating container", work, word, requestor), {});
}

Started InstanceService::resume(const Instance& instance, PathWord word, const std::string& requestor) {
    const InstanceWork work{.instance = instance.id.str()};
    return parts_.engine.start(
        instance_operation("instance.resume", "Updating container", work, word, requestor), {});
}

Started InstanceService::restart(const Instance& instance, PathWord word, const std::string& requestor) {
    if (!may_be_up(instance.status)) throw_not_allowed("restarting", instance.status);
    return start_restart(parts_.engine, parts_.ids, instance, word, requestor);
}

RestartCalls InstanceService::restart_calls() {
    constexpr PathWord word = PathWord::containers;
    return {
        [this](const std::string& id, const std::string& operation, const std::string& requestor) {
            retry_on_conflict([&] { return stop(*parts_.instances.get(id), word, requestor, operation); });
        },
        [this](const std::string& id, const std::string& operation, const std::string& requestor) {
            retry_on_conflict(
                [&] { return start(*parts_.instances.get(id), false, word, requestor, operation); });
        }};
}

std::optional<Duration> InstanceService::since_start(const Instance& instance) const {
    return boot_clock_.since(instance.start_mark);
}

std::vector<PackageRef> InstanceService::artifacts(std::string_view id) const {
    std::vector<PackageRef> wanted;
    const auto instance = parts_.instances.get(id);
    for (const PackageRef& package : instance->packages)
        if (package.fetch) wanted.push_back(package);
    return wanted;
}

std::filesystem::path InstanceService::log(std::string_view id, std::string_view name) const {
    const auto instance = parts_.instances.get(id);
    const auto& logs = instance->stored_logs;
    const auto found = std::ranges::find(logs, name, &StoredLog::name);
    if (found == logs.end()) throw Error(ErrorCode::not_found, "log not found");
    return logs_.path(instance->id.str(), *found);
}

void InstanceService::on_application_released(InstanceChanges::Released listener) {
    changes_.on_application_released(std::move(listener));
}

}  // namespace svc
