#include "libsvc/services/instance_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/model/size.h"
#include "libsvc/services/instance_implementation.h"

namespace svc {

namespace {

constexpr int max_attempts = 20;  // of a change whose record somebody else changes at the same moment

template <class F>
Started retry_on_conflict(F&& start) {
    for (int attempt = 1;; ++attempt) {
        try {
            return start();
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict || attempt == max_attempts) throw;
        }
    }
}

bool is_up(InstanceStatus status) {
    return status == InstanceStatus::started || status == InstanceStatus::running;
}

const ImageVersion& wanted_version(const Image& image, std::optional<int> number) {
    const ImageVersion* const version = number ? image.version(*number) : image.newest_active();
    if (number && version == nullptr) throw Error(ErrorCode::not_found, "image version not found");
    if (image.deleting || version == nullptr)
        throw Error(ErrorCode::invalid_argument, "image " + image.name + " is not active");
    if (version->status != ImageStatus::active)
        throw Error(ErrorCode::invalid_argument, "version " + std::to_string(version->version) +
                                                     " of image " + image.name + " is not active");
    return *version;
}

}  // namespace

std::string_view to_text(PathWord word) {
    return word == PathWord::containers ? "containers" : "instances";
}

InstanceService::Implementation::Implementation(InstanceServiceParts parts)
    : parts_(std::move(parts)),
      logs_(parts_.options.log_dir, parts_.options.max_log_bytes),
      timer_(parts_.clock, "instances"),
      boots_(timer_) {
    const auto instances = parts_.instances.list();
    parts_.nodes.adopt(instances);
    for (const auto& instance : instances) parts_.content.hold_layers(instance->layers);
    register_kinds();
    parts_.runtime.on_event([this](const RuntimeEvent& event) { on_runtime_event(event); });
}

InstanceService::Implementation::~Implementation() {
    parts_.runtime.on_event(nullptr);
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
        "instance.stop", [this](OperationContext& c) { return run_stop(c.operation()); }, nullptr);
    handle(
        "instance.fail", [this](OperationContext& c) { return run_fail(c.operation()); }, nullptr);
    handle(
        "instance.delete", [this](OperationContext& c) { return run_delete(c.operation()); },
        [this](const Operation& o, const Error& e) { return undo_delete(o, e); });
}

Json InstanceService::Implementation::Work::to_json() const {
    return Json::object({{"instance", instance},
                         {"no_wait", no_wait},
                         {"force", force},
                         {"if_gone", if_gone},
                         {"message", message}});
}

InstanceService::Implementation::Work InstanceService::Implementation::Work::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {fields.require_string("instance"), fields.boolean("no_wait").value_or(false),
            fields.boolean("force").value_or(false), fields.boolean("if_gone").value_or(false),
            fields.string("message").value_or("")};
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
    try {
        parts_.engine.start(std::move(spec), {});
        return true;
    } catch (const Error& e) {
        log::info("container is looked at again later", {{"container", work.instance}, {"reason", e.what()}});
        return false;
    }
}

Started InstanceService::Implementation::launch(const InstanceCreate& request, bool no_wait, PathWord word,
                                                std::string requestor) {
    Instance instance = new_instance(request);
    choose_image(request, instance);
    parts_.content.hold_layers(instance.layers);
    Rollback undo;
    undo.add("holding a layer", [&] { parts_.content.drop_layers(instance.layers); });
    choose_image(request, instance);  // held now: what is still active cannot lose its layer any more
    set_resources(request, instance);
    if (!instance.wanted_node.empty()) parts_.nodes.check_wanted(instance.wanted_node);

    const Work work{instance.id.str(), no_wait, false, false, ""};
    auto spec = spec_for("instance.launch", "Creating container", work, word, requestor);
    spec.id = instance.launch_operation;
    spec.cancellable = true;
    Batch batch;
    parts_.instances.stage_create(batch, instance);
    unannounced_.with([&](auto& ids) { ids.insert(work.instance); });
    undo.add("announcing", [&] { unannounced_.with([&](auto& ids) { ids.erase(work.instance); }); });
    Started started = parts_.engine.start(std::move(spec), std::move(batch));
    undo.dismiss();
    announce(work.instance, requestor);
    log::info("container created", {{"container", work.instance}, {"image", instance.image_id}});
    return started;
}

Instance InstanceService::Implementation::new_instance(const InstanceCreate& request) const {
    if (!request.app_id.empty()) throw Error(ErrorCode::not_found, "application not found");
    if (!request.addons.empty()) throw Error(ErrorCode::not_found, "addon not found");
    Instance instance;
    instance.id = InstanceId(parts_.ids.object_id());
    instance.name = "svc-" + instance.id.str();
    instance.task_id = parts_.ids.object_id();
    instance.launch_operation = parts_.ids.uuid();
    instance.created_at = instance.start_requested_at = parts_.clock.now();
    instance.services = request.services;
    instance.config = request.config;
    if (instance.config.platform.empty()) instance.config.platform = "null";
    instance.instance_type = request.instance_type;
    instance.user_data = request.user_data;
    instance.tags = request.tags;
    instance.no_start = request.no_start;
    instance.wanted_node = request.node;
    return instance;
}

void InstanceService::Implementation::choose_image(const InstanceCreate& request, Instance& instance) const {
    const auto image = parts_.images.get(request.image_id);
    const bool held = !instance.layers.empty();
    const std::optional<int> number = held ? instance.image_version : request.image_version;
    const ImageVersion& version = wanted_version(*image, number);
    instance.image_id = image->id.str();
    instance.image_version = version.version;
    instance.layers = {version.layer()};
    instance.architecture = version.metadata.architecture;
    instance.init = version.metadata.init;
    instance.ready = version.metadata.ready;
    instance.resources.disk = version.root_size;
}

// The instance type's, overlaid by the request's.
void InstanceService::Implementation::set_resources(const InstanceCreate& request, Instance& instance) const {
    const std::uint64_t image_bytes = instance.resources.disk;
    auto resources = instance_type_resources(request.instance_type);
    if (!resources)
        throw Error(ErrorCode::invalid_argument, "argument instance_type is invalid: unknown instance type");
    if (request.cpus) resources->cpus = *request.cpus;
    if (request.memory) resources->memory = *request.memory;
    if (request.disk_size) resources->disk = *request.disk_size;
    if (request.gpu_slots) resources->gpu_slots = *request.gpu_slots;
    if (resources->disk < image_bytes)
        throw Error(ErrorCode::invalid_argument, "argument disk_size is invalid: the image alone has " +
                                                     std::to_string(image_bytes) + " bytes");
    instance.resources = *resources;
}

Started InstanceService::Implementation::remove(std::string_view id, bool force, PathWord word,
                                                const std::string& requestor) {
    auto started = retry_on_conflict([&] {
        const auto instance = parts_.instances.get(id);
        if (instance->status == InstanceStatus::deleted)
            throw Error(ErrorCode::busy, "deletion already in progress");
        const Work work{instance->id.str(), false, force, false, ""};
        auto spec = spec_for("instance.delete", "Deleting container", work, word, requestor);
        spec.wait_for_claims = true;
        Batch batch;
        parts_.instances.stage_update(batch, work.instance,
                                      [](Instance& changed) { changed.status = InstanceStatus::deleted; });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
    // Nobody waits for a guest that is going away: its start ends now and frees the claim.
    const auto boot = Work::of(*started).instance;
    boots_.settle(boot, Error(ErrorCode::cancelled, "container is being deleted"));
    return started;
}

Started InstanceService::Implementation::set_desired_status(std::string_view id, std::string_view status,
                                                            bool no_wait, PathWord word,
                                                            const std::string& requestor) {
    return retry_on_conflict([&]() -> Started {
        const auto instance = parts_.instances.get(id);
        if (instance->status == InstanceStatus::deleted)
            throw Error(ErrorCode::busy, "deletion already in progress");
        if (status == "running") return start_instance(instance, no_wait, word, requestor);
        if (status == "stopped") return stop_instance(instance, word, requestor);
        throw Error(ErrorCode::invalid_argument,
                    "argument desired_status is invalid: must be running or stopped");
    });
}

Started InstanceService::Implementation::start_instance(const Ptr& instance, bool no_wait, PathWord word,
                                                        const std::string& requestor) {
    if (is_up(instance->status)) throw Error(ErrorCode::invalid_argument, "Already running");
    if (instance->type == InstanceType::base || !may_move(instance->status, InstanceStatus::started))
        throw Error(ErrorCode::invalid_argument, "starting a container that is " +
                                                     std::string(to_text(instance->status)) + " not allowed");
    const Work work{instance->id.str(), no_wait, false, false, ""};
    Batch batch;
    parts_.instances.stage_update(batch, work.instance, [now = parts_.clock.now()](Instance& changed) {
        changed.start_requested_at =
            now;  // stop_requested stays until it has started: expire() must not take it
    });
    auto spec = spec_for("instance.start", "Updating container", work, word, requestor);
    return parts_.engine.start(std::move(spec), std::move(batch));
}

Started InstanceService::Implementation::stop_instance(const Ptr& instance, PathWord word,
                                                       const std::string& requestor) {
    if (!is_up(instance->status))
        throw Error(ErrorCode::invalid_argument, "stopping a container that is " +
                                                     std::string(to_text(instance->status)) + " not allowed");
    const Work work{instance->id.str(), false, false, false, ""};
    Batch batch;
    parts_.instances.stage_update(batch, work.instance,
                                  [](Instance& changed) { changed.stop_requested = true; });
    auto spec = spec_for("instance.stop", "Updating container", work, word, requestor);
    return parts_.engine.start(std::move(spec), std::move(batch));
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
                                                            const std::string& requestor) {
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
    result.after = [this, id, applied, action = std::string(action), requestor] {
        if (*applied) publish(action, id, requestor);
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
                                std::string requestor) {
    return implementation_->launch(request, no_wait, word, std::move(requestor));
}

Started InstanceService::remove(std::string_view id, bool force, PathWord word, std::string requestor) {
    return implementation_->remove(id, force, word, requestor);
}

Started InstanceService::set_desired_status(std::string_view id, std::string_view status, bool no_wait,
                                            PathWord word, std::string requestor) {
    return implementation_->set_desired_status(id, status, no_wait, word, requestor);
}

void InstanceService::report(std::string_view id, std::string_view token_instance,
                             const InstanceReport& report) {
    implementation_->report(id, token_instance, report);
}

std::shared_ptr<const Instance> InstanceService::get(std::string_view id_or_name) const {
    return implementation_->instances().get(id_or_name);
}

std::vector<std::shared_ptr<const Instance>> InstanceService::list() const {
    return implementation_->instances().list();
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
