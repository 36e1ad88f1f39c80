// Bringing instances up. Each commit costs a disk synchronisation, so those that may overlap with the
// runtime's work do.
#include <algorithm>
#include <future>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/socket/host_address.h"
#include "libsvc/services/instances/container_spec.h"
#include "libsvc/services/instances/instance_implementation.h"

namespace svc {

namespace {

[[noreturn]] void throw_deletion_wins() {
    throw Error(ErrorCode::cancelled, "container is being deleted");
}

void throw_if_stopped(const OperationContext& context) {
    if (context.stop().stop_requested()) throw Error(ErrorCode::cancelled, "Operation cancelled");
}

void apply(const Reservation& reservation, Instance& instance) {
    instance.node = reservation.node;
    instance.address = reservation.address;
    instance.public_address = reservation.public_address;
    instance.services = reservation.services;
    instance.gpu_encoder_slots = reservation.gpu_encoder_slots;
    instance.gpus = reservation.gpus;
}

// The stop that waits sees to it. While it is being started, `stop_requested` may be of an earlier stop.
bool is_being_stopped(const Instance& instance) {
    return instance.status == InstanceStatus::started && instance.stop_requested;
}

std::string gpu_type(const Node& node, int id) {
    const auto gpu = std::ranges::find(node.gpus, id, &Gpu::id);
    return gpu == node.gpus.end() ? "none" : gpu->type;
}

// The agent looks up no names. It tries the service's socket first, so a launch does not fail for an address.
void add_load_balancer(const std::string& url, AgentSession& session) {
    try {
        const std::string host = Target::parse(url).host;
        session.service_addresses[host] = host_address(host);
        session.service_urls.insert(session.service_urls.begin(), url);
    } catch (const Error& e) {
        log::warning("load balancer left out of a session", {{"url", url}, {"error", e.what()}});
    }
}

// What was planned without the record, put into the record as it is now.
void take_plan(const Instance& planned, InstanceStatus status, Instance& instance) {
    if (instance.status == InstanceStatus::deleted) throw_deletion_wins();
    apply({planned.node, planned.address, planned.public_address, planned.services, planned.gpu_encoder_slots,
           planned.gpus},
          instance);
    instance.status = status;
}

}  // namespace

OperationResult InstanceService::Implementation::run_launch(OperationContext& context) {
    const Work work = Work::of(context.operation());
    const std::string& requestor = context.operation().requestor;
    announce(work.instance, requestor);
    throw_if_stopped(context);
    const auto before = parts_.instances.get(work.instance);
    const auto instance = prepare(work.instance, requestor, !before->no_start && !work.no_wait);
    if (instance->no_start) return {};
    if (work.no_wait) {
        OperationResult result;
        result.after = [this, id = work.instance] { start_own("instance.start", {.instance = id}, true); };
        return result;
    }
    throw_if_stopped(context);
    return boot(context, *instance);
}

OperationResult InstanceService::Implementation::run_start(OperationContext& context) {
    const Work work = Work::of(context.operation());
    const auto instance = parts_.instances.find(work.instance);
    if (!instance || instance->status == InstanceStatus::running) return {};  // a deletion was ahead
    if (instance->status == InstanceStatus::deleted) throw_deletion_wins();
    if (work.no_wait) {
        OperationResult result;
        result.after = [this, id = work.instance] { start_own("instance.start", {.instance = id}, true); };
        return result;
    }
    const auto planned = plan_start(instance);
    create_container(*planned);
    throw_if_stopped(context);
    return boot(context, *planned);
}

// Reserves, and stores that while the runtime makes the container: the record that names it is there already.
InstanceService::Implementation::Ptr InstanceService::Implementation::prepare(const std::string& id,
                                                                              const std::string& requestor,
                                                                              bool create_too) {
    auto instance = parts_.instances.get(id);
    if (instance->status == InstanceStatus::deleted) throw_deletion_wins();
    if (instance->status != InstanceStatus::created) {  // an earlier life of the daemon came this far
        if (create_too) create_container(*instance);
        return instance;
    }
    Instance planned = *instance;
    apply(parts_.nodes.reserve(planned), planned);
    Rollback undo;
    undo.add("reservation", [&] { parts_.nodes.release_all(planned); });
    auto stored = std::async(std::launch::async, [&] {
        return parts_.instances.update(
            id, [&](Instance& record) { take_plan(planned, InstanceStatus::prepared, record); });
    });
    std::exception_ptr failure;
    try {
        if (create_too) create_container(planned);
    } catch (...) {
        failure = std::current_exception();
    }
    auto prepared = stored.get();
    undo.dismiss();
    publish("container-scheduled", id, requestor);
    if (failure) std::rethrow_exception(failure);
    return prepared;
}

InstanceService::Implementation::Ptr InstanceService::Implementation::plan_start(const Ptr& instance) const {
    const bool holds_all =
        instance->status == InstanceStatus::prepared || instance->status == InstanceStatus::started;
    if (holds_all) return instance;
    auto planned = std::make_shared<Instance>(*instance);
    apply(parts_.nodes.reserve(*instance), *planned);
    return planned;
}

AgentSession InstanceService::Implementation::session_for(const Instance& planned) const {
    const ConfigValues config = parts_.config.values();
    const bool base = planned.type == InstanceType::base;
    AgentSession session = parts_.session_template;
    if (const std::string url = config.text("load_balancer.url"); !url.empty())
        add_load_balancer(url, session);
    session.instance_id = planned.id.str();
    session.instance_type = to_text(planned.type);
    session.token = parts_.tokens.issue(session.instance_id);
    session.config = planned.config;
    session.image_variant = planned.image_variant;
    session.ready = planned.ready;
    const Duration limit = base ? time_left(planned) : parts_.options.boot_timeout;
    session.boot_timeout_seconds =
        std::max(1, static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(limit).count()));
    session.packages = planned.packages;
    session.app = planned.app;
    session.features = planned.features;
    session.security_updates = base && config.boolean("container.security_updates");
    session.apt_mirror = config.text("container.apt_mirror");
    session.network_proxy = config.text("container.network_proxy");
    session.gpus = planned.gpus;
    session.gpu_type = config.text("gpu.type");
    if (session.gpu_type == "none" && !planned.gpus.empty())
        session.gpu_type = gpu_type(*parts_.nodes.get(*planned.node), planned.gpus.front());
    return session;
}

void InstanceService::Implementation::create_container(const Instance& planned) {
    const bool pin_cpus = parts_.config.text("cpu.limit_mode") == "pinning";
    parts_.runtime.create(container_spec(planned, session_for(planned), pin_cpus));
}

// `started` is stored while the runtime starts the container.
void InstanceService::Implementation::start_container(const Instance& planned, const std::string& requestor) {
    std::future<void> stored;
    if (planned.status != InstanceStatus::started)
        stored = std::async(std::launch::async, [&] { commit_started(planned, requestor); });
    parts_.runtime.start(planned.id.str());
    if (stored.valid()) stored.get();
}

void InstanceService::Implementation::commit_started(const Instance& planned, const std::string& requestor) {
    const std::string& id = planned.id.str();
    parts_.instances.update(id, [&](Instance& record) {
        take_plan(planned, InstanceStatus::started, record);
        record.stop_requested = record.end_hooks_due = false;
        record.error_message = {};
        record.stored_logs.clear();
    });
    if (!planned.stored_logs.empty()) logs_.remove(id);
    publish("container-started", id, requestor);
}

// Ends without a worker: the guest's report, its end, the timeout or a cancellation completes the operation.
OperationResult InstanceService::Implementation::boot(OperationContext& context, const Instance& planned) {
    const std::string id = planned.id.str();
    const std::string requestor = context.operation().requestor;
    boots_.expect(id, context.operation().id.str());
    Rollback undo;
    undo.add("expecting a report", [&] { boots_.forget(id); });
    start_container(planned, requestor);
    undo.dismiss();
    const auto completion =
        context.detach([this, id] { boots_.settle(id, Error(ErrorCode::cancelled, "Operation cancelled")); });
    boots_.attach(id, time_left(planned), late(planned),
                  [this, completion, id, requestor](const std::optional<Error>& failure) {
                      if (failure)
                          completion->fail(*failure);
                      else
                          completion->succeed([this, id, requestor] { return mark_running(id, requestor); });
                  });
    if (!context.operation().may_cancel) give_up_unwanted(id);
    return {};
}

// Whoever asked for the end of it while nobody waited for the guest yet was not heard, unless by a
// cancellation.
void InstanceService::Implementation::give_up_unwanted(const std::string& id) {
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted)
        boots_.settle(id, Error(ErrorCode::cancelled, "container is being deleted"));
    else if (instance->status == InstanceStatus::started && instance->stop_requested)
        boots_.settle(id, Error(ErrorCode::cancelled, "container is being stopped"));
}

Duration InstanceService::Implementation::time_left(const Instance& instance) const {
    return instance.start_requested_at + parts_.options.boot_timeout - parts_.clock.now();
}

Error InstanceService::Implementation::late(const Instance& instance) const {
    const std::string limit = format_duration(parts_.options.boot_timeout);
    return Error(ErrorCode::internal, instance.type == InstanceType::base
                                          ? "bootstrap did not finish within " + limit
                                          : "instance did not report within " + limit);
}

OperationResult InstanceService::Implementation::mark_running(const std::string& id,
                                                              const std::string& requestor) {
    auto result = transition(
        id,
        [](Instance& instance) {
            if (instance.status == InstanceStatus::deleted) throw_deletion_wins();
            if (instance.status != InstanceStatus::started) return false;
            instance.status = InstanceStatus::running;
            instance.end_hooks_due = ends_with_hooks(instance.packages, instance.type == InstanceType::base);
            instance.packages = all_there(instance.packages);
            return true;
        },
        "container-running", requestor);
    result.after = [this, id, tell = std::move(result.after)] {
        tell();
        const auto instance = parts_.instances.find(id);
        if (!instance) return;
        const Duration took = parts_.clock.now() - instance->start_requested_at;
        log::info("container running",
                  {{"container", id}, {"node", instance->node}, {"took", format_duration(took)}});
    };
    return result;
}

OperationResult InstanceService::Implementation::undo_launch(const Operation& operation, const Error& error) {
    const std::string id = Work::of(operation).instance;
    announce(id, operation.requestor);
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted)
        return {};  // the deletion that waits sees to it
    if (instance->type == InstanceType::base) return fail_instance({id, error.what()}, operation.requestor);
    const bool cancelled = error.code() == ErrorCode::cancelled;
    if (cancelled && is_being_stopped(*instance)) return {};
    if (cancelled || instance->status == InstanceStatus::created)
        return forget_instance(instance, !cancelled, operation.requestor);
    return fail_instance({id, error.what()}, operation.requestor);
}

OperationResult InstanceService::Implementation::undo_start(const Operation& operation, const Error& error) {
    const std::string id = Work::of(operation).instance;
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    if (error.code() == ErrorCode::cancelled && is_being_stopped(*instance)) return {};
    const bool was_down =
        instance->status == InstanceStatus::stopped || instance->status == InstanceStatus::error;
    if (was_down && error.code() == ErrorCode::exhausted) return {};  // no room for it now: as it was before
    return fail_instance({id, error.what()}, operation.requestor);
}

}  // namespace svc
