#include "libsvc/services/instances/launch/instance_launcher.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/services/instances/launch/container_spec.h"

namespace svc {

namespace {

constexpr std::size_t commits_at_once = 12;  // as many as the engine has workers by default
constexpr std::size_t max_queued_commits = 1000;
constexpr std::size_t only_reserve = 1;  // of the steps

[[noreturn]] void throw_deletion_wins() {
    throw Error(ErrorCode::cancelled, "container is being deleted");
}

void throw_if_stopped(const OperationContext& context) {
    if (context.stop().stop_requested()) throw Error(ErrorCode::cancelled, "Operation cancelled");
}

// The deletion or stop that waits behind the launch sees to the instance. While the instance is being
// started, `stop_requested` may be of an earlier stop.
bool is_being_stopped(const Instance& instance) {
    return instance.status == InstanceStatus::started && instance.stop_requested;
}

// What was planned outside of the record, put into the record as it is now.
void take_plan(const Instance& planned, InstanceStatus status, Instance& instance) {
    if (instance.status == InstanceStatus::deleted) throw_deletion_wins();
    set_reservation(instance, {planned.node, planned.address, planned.public_address, planned.services,
                               planned.gpu_encoder_slots, planned.gpus});
    instance.status = status;
}

}  // namespace

// name, effect, state that it leads to, undo, what becomes of the instance when the launch fails here
const std::array<InstanceLauncher::Step, 5> InstanceLauncher::steps{{
    {"reserve node, address, ports and capacity", &InstanceLauncher::reserve, InstanceStatus::prepared,
     &InstanceLauncher::release, &InstanceLauncher::forget},
    {"create the container", &InstanceLauncher::create_container, InstanceStatus::unknown, nullptr,
     &InstanceLauncher::fail},
    {"expect the guest's report", &InstanceLauncher::expect_report, InstanceStatus::started,
     &InstanceLauncher::tell_failure, &InstanceLauncher::fail},
    {"start the container", &InstanceLauncher::start_container, InstanceStatus::unknown, nullptr,
     &InstanceLauncher::fail},
    {"wait for the guest", &InstanceLauncher::wait_for_guest, InstanceStatus::running, nullptr,
     &InstanceLauncher::fail},
}};

InstanceLauncher::InstanceLauncher(InstanceLauncherParts parts)
    : parts_(parts), commits_("launch-commits", commits_at_once, max_queued_commits) {}

OperationResult InstanceLauncher::run_launch(OperationContext& context) {
    const InstanceWork work = InstanceWork::of(context.operation());
    const std::string& requestor = context.operation().requestor;
    parts_.changes.announce(work.instance, requestor);
    const auto instance = with_start_mark(parts_.instances.get(work.instance));
    if (instance->status == InstanceStatus::deleted) throw_deletion_wins();
    if (instance->status == InstanceStatus::running) return {};  // a repair was ahead
    const bool comes_up = !instance->no_start && !work.no_wait;
    const auto launch = std::make_shared<Launch>(Launch{context, work.instance, requestor, *instance});
    if (!context.resumed()) leave_lost_node(launch->planned);
    run_steps(launch, comes_up ? steps.size() : only_reserve);
    return work.no_wait && !instance->no_start ? start_behind(work.instance) : OperationResult{};
}

OperationResult InstanceLauncher::run_start(OperationContext& context) {
    const InstanceWork work = InstanceWork::of(context.operation());
    const auto instance = parts_.instances.find(work.instance);
    if (!instance || instance->status == InstanceStatus::running) return {};  // a deletion was ahead
    if (instance->status == InstanceStatus::deleted) throw_deletion_wins();
    if (work.no_wait) return start_behind(work.instance);
    const std::string& requestor = context.operation().requestor;
    const auto launch =
        std::make_shared<Launch>(Launch{context, work.instance, requestor, *with_start_mark(instance)});
    run_steps(launch, steps.size());
    return {};
}

// The machine was booted meanwhile: the guest has not used any of its time.
InstancePtr InstanceLauncher::with_start_mark(const InstancePtr& instance) {
    if (instance->status == InstanceStatus::deleted || parts_.limit.counts(*instance)) return instance;
    return parts_.instances.update(instance->id.str(), [mark = parts_.limit.mark()](Instance& changed) {
        if (changed.status == InstanceStatus::deleted) throw_deletion_wins();
        changed.start_mark = mark;
    });
}

// The operation ends now; the start goes on in another one.
OperationResult InstanceLauncher::start_behind(const std::string& id) {
    OperationResult result;
    result.after = [this, id] { start_repair(parts_.engine, "instance.start", {.instance = id}, true); };
    return result;
}

void InstanceLauncher::run_steps(const LaunchPtr& launch, std::size_t count) {
    Rollback undo;
    try {
        go_through(launch, count, undo);
    } catch (const Error& e) {
        launch->failure = e;
        throw;
    } catch (const std::exception& e) {
        launch->failure = Error(ErrorCode::internal, e.what());
        throw;
    }
    undo.dismiss();
}

void InstanceLauncher::go_through(const LaunchPtr& launch, std::size_t count, Rollback& undo) {
    std::future<void> stored;
    InstanceStatus state = InstanceStatus::unknown;
    const auto await_stored = [&] {
        if (!stored.valid()) return;
        stored.get();
        launch->planned.status = state;
    };
    for (std::size_t i = 0; i < count; ++i) {
        const Step& step = steps.at(i);
        if (step.undo)
            undo.add(std::string(step.name), [this, &step, launch] { (this->*step.undo)(launch); });
        std::exception_ptr failure;
        try {
            (this->*step.effect)(launch);
        } catch (...) {
            failure = std::current_exception();
        }
        failpoint("launch.step_done");
        await_stored();
        if (failure) std::rethrow_exception(failure);
        state = step.leads_to;
        stored = begin_to_store(state, launch);
    }
    await_stored();
}

// Not what the record has already, nor what is stored with the end of the operation. A start that did not
// come from `created` goes to `started` at once.
std::future<void> InstanceLauncher::begin_to_store(InstanceStatus state, const LaunchPtr& launch) {
    const InstanceStatus now = launch->planned.status;
    const bool is_due = (state == InstanceStatus::prepared && now == InstanceStatus::created) ||
                        (state == InstanceStatus::started && now != InstanceStatus::started);
    if (!is_due) return {};
    const auto task =
        std::make_shared<std::packaged_task<void()>>([this, state, launch] { store(state, *launch); });
    auto stored = task->get_future();
    if (!commits_.post([task] { (*task)(); })) (*task)();
    return stored;
}

void InstanceLauncher::store(InstanceStatus state, const Launch& launch) {
    const bool starts = state == InstanceStatus::started;
    parts_.instances.update(launch.id, [&](Instance& record) {
        take_plan(launch.planned, state, record);
        if (!starts) return;
        record.stop_requested = record.end_hooks_due = false;
        record.error_message = {};
        record.stored_logs.clear();
    });
    failpoint("launch.state_stored");
    if (starts) parts_.logs.drop(launch.id, launch.planned.stored_logs);
    parts_.changes.publish(starts ? "container-started" : "container-scheduled", launch.id, launch.requestor);
}

void InstanceLauncher::reserve(const LaunchPtr& launch) {
    throw_if_stopped(launch->context);
    if (is_placed(launch->planned)) return;
    if (launch->context.resumed()) remove_left_container(launch->planned);
    set_reservation(launch->planned, parts_.nodes.reserve(launch->planned));
    if (launch->planned.status == InstanceStatus::prepared) launch->planned.status = InstanceStatus::created;
}

// Its node went offline while the launch was queued, and nothing was made there.
void InstanceLauncher::leave_lost_node(Instance& planned) {
    if (planned.status != InstanceStatus::prepared || parts_.nodes.is_online(*planned.node)) return;
    parts_.nodes.release_all(planned);
    planned.node = {};
    planned.status = InstanceStatus::created;
}

// A launch that is taken up late has given back what its record says.
bool InstanceLauncher::is_placed(const Instance& instance) const {
    const bool placed =
        instance.status == InstanceStatus::prepared || instance.status == InstanceStatus::started;
    return placed && parts_.nodes.holds(instance);
}

// An earlier process may have made the container on a node that it could not store any more; another node may
// be chosen now.
void InstanceLauncher::remove_left_container(const Instance& instance) {
    if (instance.status != InstanceStatus::created) return;
    const auto container = parts_.runtime.inspect(instance.id.str());
    if (container && !container->node.empty()) parts_.runtime.remove(instance.id.str());
}

// What the record tells of is released with the instance's failure or removal. Nothing was started yet.
void InstanceLauncher::release(const LaunchPtr& launch) {
    if (launch->planned.status == InstanceStatus::created) parts_.nodes.release_all(launch->planned);
}

// A container that exists is made what the specification says.
void InstanceLauncher::create_container(const LaunchPtr& launch) {
    throw_if_stopped(launch->context);
    const ContainerSpec spec = specification(launch->planned);
    if (spec.gpus.size() < launch->planned.gpus.size())
        throw Error(ErrorCode::unavailable,
                    "node " + *launch->planned.node + " has lost a GPU of the instance");
    parts_.runtime.create(spec);
    failpoint("launch.created");
}

ContainerSpec InstanceLauncher::specification(const Instance& instance) const {
    const bool pin_cpus = parts_.config.text("cpu.limit_mode") == "pinning";
    ContainerSpec spec = container_spec(instance, parts_.sessions.make(instance), pin_cpus);
    spec.gpus = render_names(instance);
    return spec;
}

std::vector<std::string> InstanceLauncher::render_names(const Instance& instance) const {
    std::vector<std::string> names;
    if (instance.gpus.empty()) return names;
    const auto node = parts_.nodes.get(*instance.node);
    for (const Gpu& gpu : node->gpus)
        if (std::ranges::find(instance.gpus, gpu.id) != instance.gpus.end()) names.push_back(gpu.render_name);
    return names;
}

// From here on the guest's report, its end, the timeout or a cancellation completes the operation, whichever
// is first; but not before the steps are done, since the engine waits for them.
void InstanceLauncher::expect_report(const LaunchPtr& launch) {
    throw_if_stopped(launch->context);
    const std::string& id = launch->id;
    const Error cancelled(ErrorCode::cancelled, "Operation cancelled");
    const auto stopped = std::make_shared<std::atomic<bool>>(false);  // perhaps before the report is expected
    const auto completion = launch->context.detach([this, id, cancelled, stopped] {
        *stopped = true;
        parts_.boots.settle(id, cancelled);
    });
    parts_.boots.expect(id, launch->context.operation().id.str(),
                        {parts_.limit.left(launch->planned), parts_.limit.late(launch->planned)},
                        [this, launch, completion](const std::optional<Error>& failure) {
                            if (failure)
                                completion->fail(*failure);
                            else
                                completion->succeed([this, launch] { return mark_running(*launch); });
                        });
    if (*stopped) parts_.boots.settle(id, cancelled);
}

void InstanceLauncher::tell_failure(const LaunchPtr& launch) {
    parts_.boots.settle(launch->id, launch->failure);
}

void InstanceLauncher::start_container(const LaunchPtr& launch) {
    parts_.runtime.start(launch->id);
}

// The worker is free after this. A request that came before the report was expected, for the end of an
// instance whose operation cannot be cancelled, is seen here.
void InstanceLauncher::wait_for_guest(const LaunchPtr& launch) {
    if (launch->context.operation().may_cancel) return;
    const auto instance = parts_.instances.find(launch->id);
    if (!instance || instance->status == InstanceStatus::deleted)
        parts_.boots.settle(launch->id, Error(ErrorCode::cancelled, "container is being deleted"));
    else if (is_being_stopped(*instance))
        parts_.boots.settle(launch->id, Error(ErrorCode::cancelled, "container is being stopped"));
}

OperationResult InstanceLauncher::mark_running(const Launch& launch) {
    if (launch.failure) throw Error(*launch.failure);  // of a step, behind a report
    auto result = parts_.changes.transition(
        launch.id,
        [](Instance& instance) {
            if (instance.status == InstanceStatus::deleted) throw_deletion_wins();
            if (instance.status != InstanceStatus::started) return false;
            instance.status = InstanceStatus::running;
            instance.paused = false;
            instance.end_hooks_due = ends_with_hooks(instance.packages, instance.type == InstanceType::base);
            instance.packages = all_there(instance.packages);
            return true;
        },
        "container-running", launch.requestor);
    result.after = [this, id = launch.id, tell = std::move(result.after)] {
        tell();
        const auto instance = parts_.instances.find(id);
        if (!instance) return;
        log::info("container running", {{"container", id},
                                        {"node", instance->node},
                                        {"took", format_duration(parts_.limit.spent(*instance))}});
    };
    return result;
}

const InstanceLauncher::Step& InstanceLauncher::first_unfinished(InstanceStatus stored) {
    if (stored == InstanceStatus::created) return steps.front();
    const auto reached = std::ranges::find(steps, stored, &Step::leads_to);
    return reached == steps.end() || reached == steps.end() - 1 ? steps.back() : *(reached + 1);
}

OperationResult InstanceLauncher::forget(const InstancePtr& instance, const Error&,
                                         const std::string& requestor) {
    return parts_.abandoned.forget(instance, true, requestor);
}

OperationResult InstanceLauncher::fail(const InstancePtr& instance, const Error& error,
                                       const std::string& requestor) {
    return parts_.failures.fail({instance->id.str(), error.what()}, requestor);
}

OperationResult InstanceLauncher::undo_launch(const Operation& operation, const Error& error) {
    const std::string id = InstanceWork::of(operation).instance;
    const std::string& requestor = operation.requestor;
    parts_.changes.announce(id, requestor);
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted)
        return {};  // the deletion that waits sees to it
    if (instance->type == InstanceType::base) return fail(instance, error, requestor);
    if (error.code() != ErrorCode::cancelled)
        return (this->*first_unfinished(instance->status).on_failure)(instance, error, requestor);
    return is_being_stopped(*instance) ? OperationResult{}
                                       : parts_.abandoned.forget(instance, false, requestor);
}

OperationResult InstanceLauncher::undo_start(const Operation& operation, const Error& error) {
    const auto instance = parts_.instances.find(InstanceWork::of(operation).instance);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    if (error.code() == ErrorCode::cancelled && is_being_stopped(*instance)) return {};
    const bool was_down =
        instance->status == InstanceStatus::stopped || instance->status == InstanceStatus::error;
    if (!was_down || error.code() != ErrorCode::exhausted) return fail(instance, error, operation.requestor);
    // No room for it now: it stays as it was before.
    if (parts_.failures.stop_container(instance->id.str())) parts_.nodes.release_all_but_disk(*instance);
    return {};
}

}  // namespace svc
