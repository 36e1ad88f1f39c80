#include "libsvc/services/instances/instance_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/instances/instance_implementation.h"

namespace svc {

namespace {

constexpr std::size_t end_threads = 10;
constexpr std::size_t max_queued_ends = 100'000;  // no more than there may be instances

}  // namespace

std::string_view to_text(PathWord word) {
    return word == PathWord::containers ? "containers" : "instances";
}

InstanceService::Implementation::Implementation(InstanceServiceParts parts)
    : parts_(std::move(parts)),
      logs_(parts_.options.log_dir, parts_.options.max_log_bytes),
      reports_(parts_.clock),
      timer_(parts_.clock, "instances"),
      boots_(timer_),
      enders_("instance-ends", end_threads, max_queued_ends) {
    const auto instances = parts_.instances.list();
    parts_.nodes.adopt(instances);
    for (const auto& instance : instances) parts_.content.hold_layers(instance->layers);
    register_kinds();
    parts_.nodes.on_forced_removal([this](const std::string& node) { remove_all_on(node); });
    parts_.runtime.on_event([this](const RuntimeEvent& event) { on_runtime_event(event); });
}

InstanceService::Implementation::~Implementation() {
    parts_.runtime.on_event(nullptr);
    parts_.nodes.on_forced_removal(nullptr);
}

void InstanceService::Implementation::register_kinds() {
    using Run = std::function<OperationResult(OperationContext&)>;
    using Undo = std::function<OperationResult(const Operation&, const Error&)>;
    const auto handle = [this](const char* kind, Run run, Undo undo) {
        parts_.engine.handle(kind, OperationHandler{std::move(run), std::move(undo), true});
    };
    handle(
        "instance.launch", [this](OperationContext& c) { return run_launch(c); },
        [this](const Operation& o, const Error& e) { return undo_launch(o, e); });
    handle(
        "instance.start", [this](OperationContext& c) { return run_start(c); },
        [this](const Operation& o, const Error& e) { return undo_start(o, e); });
    handle(
        "instance.stop", [this](OperationContext& c) { return run_stop(c); },
        [this](const Operation& o, const Error& e) { return undo_stop(o, e); });
    handle(  // its start has done it
        "instance.protect", [](OperationContext&) { return OperationResult{}; }, nullptr);
    handle(
        "instance.fail", [this](OperationContext& c) { return run_fail(c); }, nullptr);
    handle(
        "instance.recheck", [this](OperationContext& c) { return run_recheck(c); }, nullptr);
    handle(
        "instance.delete", [this](OperationContext& c) { return run_delete(c); },
        [this](const Operation& o, const Error& e) { return undo_delete(o, e); });
}

Json InstanceService::Implementation::Work::to_json() const {
    return Json::object({{"instance", instance},
                         {"no_wait", no_wait},
                         {"force", force},
                         {"if_gone", if_gone},
                         {"exit_code", exit_code},
                         {"message", message}});
}

InstanceService::Implementation::Work InstanceService::Implementation::Work::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {.instance = fields.require_string("instance"),
            .no_wait = fields.boolean("no_wait").value_or(false),
            .force = fields.boolean("force").value_or(false),
            .if_gone = fields.boolean("if_gone").value_or(false),
            .exit_code = static_cast<int>(fields.integer("exit_code").value_or(0)),
            .message = fields.string("message").value_or("")};
}

OperationSpec InstanceService::Implementation::spec_for(std::string kind, std::string description,
                                                        const Work& work, PathWord word,
                                                        std::string requestor) {
    const std::string noun(to_text(word));
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources[noun] = {"/1.0/" + noun + "/" + work.instance};
    spec.claims = {"instances/" + work.instance};
    spec.arguments = work.to_json();
    spec.requestor = std::move(requestor);
    return spec;
}

bool InstanceService::Implementation::start_own(std::string kind, const Work& work, bool wait_for_claims) {
    auto spec = spec_for(std::move(kind), "Updating container", work, PathWord::containers, "service");
    spec.wait_for_claims = wait_for_claims;
    spec.cancel_holders = false;
    try {
        parts_.engine.start(std::move(spec), {});
        return true;
    } catch (const Error& e) {
        log::info("container is looked at again later", {{"container", work.instance}, {"reason", e.what()}});
        return false;
    }
}

std::vector<PackageRef> InstanceService::Implementation::artifacts(std::string_view id) const {
    std::vector<PackageRef> wanted;
    const Ptr instance = parts_.instances.get(id);
    for (const PackageRef& package : instance->packages)
        if (package.fetch) wanted.push_back(package);
    return wanted;
}

void InstanceService::Implementation::on_application_released(
    std::function<void(const std::string&, int)> listener) {
    released_.with([&](auto& current) { current = std::move(listener); });
}

void InstanceService::Implementation::tell_released(const Instance& instance) const {
    if (instance.app_id.empty()) return;
    const auto listener = released_.with([](const auto& current) { return current; });
    if (listener) listener(instance.app_id, instance.app_version);
}

std::filesystem::path InstanceService::Implementation::log(std::string_view id, std::string_view name) const {
    const auto instance = parts_.instances.get(id);
    const auto& names = instance->stored_logs;
    if (std::ranges::find(names, name) == names.end()) throw Error(ErrorCode::not_found, "log not found");
    return logs_.path(instance->id.str(), name);
}

OperationResult InstanceService::Implementation::transition(const std::string& id,
                                                            std::function<bool(Instance&)> change,
                                                            std::string_view action,
                                                            const std::string& requestor,
                                                            std::function<void()> then) {
    const auto applied = std::make_shared<bool>(false);
    OperationResult result;
    result.stage = [this, id, applied, change = std::move(change)](Batch& last) {
        *applied = false;
        if (!parts_.instances.find(id)) return;
        bool applies = false;
        Batch changed;
        parts_.instances.stage_update(changed, id, [&](Instance& instance) { applies = change(instance); });
        if (applies) last.append(std::move(changed));
        *applied = applies;
    };
    result.after = [this, id, applied, action = std::string(action), requestor, then = std::move(then)] {
        if (!*applied) return;
        if (!action.empty()) publish(action, id, requestor);
        if (then) then();
    };
    return result;
}

void InstanceService::Implementation::publish(std::string_view action, const std::string& id,
                                              const std::string& requestor) const {
    Json event = Json::object({{"action", action}, {"source", "/1.0/containers/" + id}});
    if (!requestor.empty()) event.set("requestor", requestor);
    parts_.events.publish(EventType::lifecycle, event);
}

void InstanceService::Implementation::announce(const std::string& id, const std::string& requestor) {
    // Under the lock, so that whoever comes second goes on only when the event is out.
    unannounced_.with([&](auto& ids) {
        if (ids.erase(id) > 0) publish("container-created", id, requestor);
    });
}

InstanceService::InstanceService(InstanceServiceParts parts)
    : implementation_(std::make_unique<Implementation>(std::move(parts))) {}
InstanceService::~InstanceService() = default;

Started InstanceService::launch(const InstanceCreate& request, bool no_wait, PathWord word,
                                const std::string& requestor) {
    return implementation_->launch(request, no_wait, word, requestor);
}

Started InstanceService::remove(std::string_view id, bool force, PathWord word,
                                const std::string& requestor) {
    return implementation_->remove(id, force, word, requestor);
}

Started InstanceService::set_desired_status(std::string_view id, std::string_view status, bool no_wait,
                                            PathWord word, const std::string& requestor) {
    return implementation_->set_desired_status(id, status, no_wait, word, requestor);
}

Started InstanceService::protect(std::string_view id, bool wanted, PathWord word,
                                 const std::string& requestor) {
    return implementation_->protect(id, wanted, word, requestor);
}

void InstanceService::launch_base(const BaseLaunch& launch) {
    implementation_->launch_base(launch);
}

void InstanceService::finish_base(const InstanceId& id,
                                  std::function<void(const std::optional<Error>& failure)> done) {
    implementation_->finish_base(id.str(), std::move(done));
}

void InstanceService::remove_base(const InstanceId& id, std::function<void()> done) {
    implementation_->remove_base(id.str(), std::move(done));
}

std::vector<PackageRef> InstanceService::artifacts(std::string_view instance_id) const {
    return implementation_->artifacts(instance_id);
}

void InstanceService::on_application_released(
    std::function<void(const std::string& app_id, int version)> listener) {
    implementation_->on_application_released(std::move(listener));
}

void InstanceService::admit_report(std::string_view id) {
    implementation_->admit_report(id);
}

void InstanceService::report(std::string_view id, std::string_view token_instance,
                             const InstanceReport& report) {
    implementation_->report(id, token_instance, report);
}

std::shared_ptr<const Instance> InstanceService::get(std::string_view id_or_name) const {
    return implementation_->instances().get(id_or_name);
}

std::shared_ptr<const Instance> InstanceService::find(std::string_view id_or_name) const {
    return implementation_->instances().find(id_or_name);
}

std::vector<std::shared_ptr<const Instance>> InstanceService::list() const {
    return implementation_->instances().list();
}

Instances::Window InstanceService::window(std::size_t offset, std::size_t limit) const {
    return implementation_->instances().window(offset, limit);
}

std::vector<std::string> InstanceService::logs(std::string_view id) const {
    return implementation_->instances().get(id)->stored_logs;
}

std::filesystem::path InstanceService::log(std::string_view id, std::string_view name) const {
    return implementation_->log(id, name);
}

void InstanceService::reconcile() {
    implementation_->reconcile();
}

void InstanceService::expire() {
    implementation_->expire();
}

}  // namespace svc
