#include "libsvc/services/snapshots/snapshot_service.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/model/instances/agent_paths.h"
#include "libsvc/operations/run_aside.h"
#include "libsvc/services/common/layer_hold.h"
#include "libsvc/services/common/retry.h"

namespace svc {

namespace {

constexpr std::size_t copies_at_once = 2;
constexpr std::size_t max_queued_copies = 10'000;

[[noreturn]] void throw_unknown_snapshot() {
    throw Error(ErrorCode::not_found, "snapshot not found");
}

void check_may_be_copied(const Instance& instance) {
    if (instance.type == InstanceType::base)
        throw Error(ErrorCode::invalid_argument, "a base container has no snapshots");
    if (instance.status != InstanceStatus::stopped)
        throw Error(ErrorCode::invalid_argument, "only the disk of a stopped instance can be copied");
}

void check_may_be_restored(const Instance& instance) {
    if (instance.status != InstanceStatus::stopped && instance.status != InstanceStatus::error)
        throw Error(ErrorCode::invalid_argument, "only a stopped or failed instance can be restored");
}

void check_is_ready(const Snapshot& snapshot) {
    if (snapshot.status != SnapshotStatus::ready)
        throw Error(ErrorCode::invalid_argument, "snapshot is not ready");
}

std::string url_of(const Snapshot& snapshot) {
    return "/1.0/instances/" + snapshot.instance_id() + "/snapshots/" + snapshot.id.str();
}

ExportRequest export_request(const Snapshot& snapshot) {
    const std::string name = snapshot.instance.name();
    Json properties =
        Json::object({{"name", name}, {"description", "disk of instance " + name + " as a snapshot has it"}});
    add_guest_properties(snapshot.instance, properties);
    // Said either way: a guest may have made the file by which an image without a profile counts as Android.
    properties.set("profile", snapshot.instance.android ? "android" : "linux");
    const Json metadata = Json::object({{"architecture", *snapshot.instance.architecture},
                                        {"creation_date", to_unix_seconds(snapshot.created_at)},
                                        {"properties", std::move(properties)}});
    return {snapshot.layers(), to_yaml(metadata)};
}

log::Fields fields_of(const Snapshot& snapshot) {
    return {{"snapshot", snapshot.id.str()}, {"container", snapshot.instance_id()}};
}

}  // namespace

SnapshotService::SnapshotService(SnapshotServiceParts parts)
    : parts_(parts), copies_("snapshots", copies_at_once, max_queued_copies) {
    parts_.content.add_referrer([this](ContentReferences& used) {
        for (const Ptr& snapshot : parts_.snapshots.list()) {
            const std::vector<std::string> layers = snapshot->layers();
            used.layers.insert(layers.begin(), layers.end());
        }
    });
    handle("snapshot.create", &SnapshotService::copy_disk,
           [this](const Operation& operation, const Error&) { return drop_copy(operation); });
    handle("snapshot.restore", &SnapshotService::copy_back, nullptr);
    handle("snapshot.delete", &SnapshotService::erase,
           [this](const Operation& operation, const Error&) { return keep(operation); });
}

void SnapshotService::handle(const char* kind, Work work,
                             std::function<OperationResult(const Operation&, const Error&)> undo) {
    OperationHandler handler;
    handler.run = [this, work](OperationContext& context) {
        return run_aside(context, copies_, "too many snapshots are being made",
                         [this, work, operation = context.operation()](const std::stop_token& stop) {
                             return (this->*work)(operation, stop);
                         });
    };
    handler.undo = std::move(undo);
    handler.resumable = true;
    parts_.engine.handle(kind, std::move(handler));
}

OperationSpec SnapshotService::spec_for(const char* kind, const char* description, const Snapshot& snapshot,
                                        std::string requestor) const {
    OperationSpec spec;
    spec.kind = kind;
    spec.description = description;
    spec.resources["instances"] = {"/1.0/instances/" + snapshot.instance_id()};
    spec.resources["snapshots"] = {url_of(snapshot)};
    spec.claims = {"instances/" + snapshot.instance_id(), "snapshots/" + snapshot.id.str()};
    spec.arguments = Json::object({{"snapshot", snapshot.id.str()}});
    spec.requestor = std::move(requestor);
    return spec;
}

SnapshotService::Ptr SnapshotService::of(const Operation& operation) const {
    return parts_.snapshots.find(JsonFields(operation.arguments).require_string("snapshot"));
}

// Also in the operation: of two requests that saw no such name, the second fails there.
void SnapshotService::check_name_is_free(const std::string& instance, const std::string& name,
                                         const SnapshotId& own) const {
    if (name.empty()) return;
    for (const Ptr& other : list(instance))
        if (other->name == name && other->id != own)
            throw Error(ErrorCode::conflict, "snapshot " + quoted(name) + " already exists");
}

Started SnapshotService::create(std::string_view instance_id, const SnapshotCreate& request,
                                const std::string& requestor) {
    const auto instance = parts_.instances.get(instance_id);
    check_may_be_copied(*instance);
    check_name_is_free(instance->id.str(), request.name, {});
    Snapshot snapshot;
    snapshot.id = SnapshotId(parts_.ids.object_id());
    snapshot.name = request.name;
    snapshot.created_at = parts_.clock.now();
    snapshot.instance = *instance;
    auto spec = spec_for("snapshot.create", "Creating snapshot", snapshot, requestor);
    spec.cancellable = true;
    Batch batch;
    parts_.snapshots.stage_create(batch, snapshot);
    return parts_.engine.start(std::move(spec), std::move(batch));
}

OperationResult SnapshotService::copy_disk(const Operation& operation, const std::stop_token& stop) {
    const Ptr snapshot = of(operation);
    if (!snapshot) throw_unknown_snapshot();
    check_name_is_free(snapshot->instance_id(), snapshot->name, snapshot->id);
    const std::string layer = snapshot->layer();
    LayerStore& layers = parts_.content.layers();
    if (!layers.contains(layer)) check_may_be_copied(*parts_.instances.get(snapshot->instance_id()));
    layers.snapshot(layer, snapshot->instance_id(), agent_state_paths(), stop);
    failpoint("snapshot.copied");
    OperationResult result;
    result.stage = [this, id = snapshot->id.str(), size = layers.size(layer)](Batch& last) {
        parts_.snapshots.stage_update(last, id, [&](Snapshot& made) {
            if (made.status == SnapshotStatus::creating) made.status = SnapshotStatus::ready;
            made.size = size;
        });
    };
    result.after = [this, snapshot, requestor = operation.requestor] {
        log::info("snapshot created", fields_of(*snapshot));
        publish("snapshot-created", *snapshot, requestor);
    };
    return result;
}

OperationResult SnapshotService::drop_copy(const Operation& operation) {
    const Ptr snapshot = of(operation);
    return snapshot ? forget(*snapshot, "", operation.requestor) : OperationResult{};
}

Started SnapshotService::restore(std::string_view instance_id, std::string_view snapshot_id,
                                 const std::string& requestor) {
    const Ptr snapshot = get(instance_id, snapshot_id);
    check_is_ready(*snapshot);
    check_may_be_restored(*parts_.instances.get(snapshot->instance_id()));
    return parts_.engine.start(spec_for("snapshot.restore", "Restoring snapshot", *snapshot, requestor), {});
}

OperationResult SnapshotService::copy_back(const Operation& operation, const std::stop_token& stop) {
    const Ptr snapshot = of(operation);
    if (!snapshot) throw_unknown_snapshot();
    check_may_be_restored(*parts_.instances.get(snapshot->instance_id()));
    parts_.content.layers().restore(snapshot->layer(), snapshot->instance_id(), stop);
    failpoint("snapshot.restored");
    OperationResult result;
    result.after = [this, snapshot, requestor = operation.requestor] {
        log::info("snapshot restored", fields_of(*snapshot));
        publish("snapshot-restored", *snapshot, requestor);
    };
    return result;
}

Started SnapshotService::remove(std::string_view instance_id, std::string_view snapshot_id,
                                const std::string& requestor) {
    return start_removal(get(instance_id, snapshot_id), requestor);
}

// Behind a copy that is going on, which ends; the instance may do what it likes meanwhile.
Started SnapshotService::start_removal(const Ptr& snapshot, const std::string& requestor) {
    return retry_on_conflict([&] {
        auto spec = spec_for("snapshot.delete", "Deleting snapshot", *snapshot, requestor);
        spec.claims = {"snapshots/" + snapshot->id.str()};
        spec.wait_for_claims = true;
        Batch batch;
        parts_.snapshots.stage_update(batch, snapshot->id.str(), [this](Snapshot& going) {
            if (is_being_deleted(going)) throw Error(ErrorCode::busy, "snapshot is being deleted");
            going.status = SnapshotStatus::deleting;
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

// A deletion whose failure could not be stored has left the status: it may be started again.
bool SnapshotService::is_being_deleted(const Snapshot& snapshot) const {
    return snapshot.status == SnapshotStatus::deleting &&
           parts_.engine.claimed("snapshots/" + snapshot.id.str());
}

OperationResult SnapshotService::erase(const Operation& operation, const std::stop_token&) {
    const Ptr snapshot = of(operation);
    if (!snapshot) return {};
    return forget(*snapshot, "snapshot-deleted", operation.requestor);
}

// The layer goes after the record alone, so a snapshot that could not be deleted is as good as before.
OperationResult SnapshotService::keep(const Operation& operation) {
    OperationResult result;
    const Ptr snapshot = of(operation);
    if (!snapshot) return result;
    result.stage = [this, id = snapshot->id.str()](Batch& last) {
        parts_.snapshots.stage_update(last, id, [](Snapshot& kept) { kept.status = SnapshotStatus::ready; });
    };
    return result;
}

OperationResult SnapshotService::forget(const Snapshot& snapshot, const char* event,
                                        const std::string& requestor) {
    OperationResult result;
    result.stage = [this, id = snapshot.id.str()](Batch& last) {
        if (parts_.snapshots.find(id)) parts_.snapshots.stage_remove(last, id);
    };
    result.after = [this, snapshot, event = std::string(event), requestor] {
        parts_.content.drop({}, snapshot.layers());
        if (event.empty()) return;
        log::info("snapshot deleted", fields_of(snapshot));
        publish(event.c_str(), snapshot, requestor);
    };
    return result;
}

SnapshotExport SnapshotService::export_archive(std::string_view instance_id,
                                               std::string_view snapshot_id) const {
    const std::string id = get(instance_id, snapshot_id)->id.str();
    auto hold = std::make_unique<LayerHold>(parts_.content);
    hold->add(get(instance_id, id)->layers());
    const Ptr snapshot = get(instance_id, id);  // read again, now that the layers stay
    check_is_ready(*snapshot);
    SnapshotExport result;
    result.file_name = snapshot->instance.name() + "-" + id + ".tar.gz";
    result.archive =
        held_archive(std::move(hold), parts_.content.layers().export_archive(export_request(*snapshot)));
    log::info("snapshot exported", fields_of(*snapshot));
    return result;
}

SnapshotService::Ptr SnapshotService::get(std::string_view instance_id, std::string_view snapshot_id) const {
    const auto instance = parts_.instances.get(instance_id);
    for (const Ptr& snapshot : list(instance->id.str()))
        if (snapshot->id.str() == snapshot_id || snapshot->name == snapshot_id) return snapshot;
    throw_unknown_snapshot();
}

std::vector<SnapshotService::Ptr> SnapshotService::list(std::string_view instance_id) const {
    const auto instance = parts_.instances.get(instance_id);
    std::vector<Ptr> all = parts_.snapshots.list();
    std::erase_if(all, [&](const Ptr& snapshot) { return snapshot->instance.id != instance->id; });
    std::ranges::sort(all, [](const Ptr& a, const Ptr& b) {
        return std::tie(a->created_at, a->id) < std::tie(b->created_at, b->id);
    });
    return all;
}

void SnapshotService::remove_orphans() {
    for (const Ptr& snapshot : parts_.snapshots.list()) {
        const std::string id = snapshot->instance_id();
        // A record that cannot be read may be mended, and its snapshots with it.
        const bool has_instance = parts_.instances.find(id) || parts_.instances.find_unreadable(id);
        if (is_being_deleted(*snapshot) || has_instance) continue;
        try {
            start_removal(snapshot, "service");
        } catch (const Error& e) {
            log::info("snapshot is deleted later", {{"snapshot", snapshot->id.str()}, {"reason", e.what()}});
        }
    }
}

void SnapshotService::publish(const char* action, const Snapshot& snapshot,
                              const std::string& requestor) const {
    Json event = Json::object({{"action", action}, {"source", url_of(snapshot)}});
    if (!requestor.empty()) event.set("requestor", requestor);
    parts_.events.publish(EventType::lifecycle, event);
}

}  // namespace svc
