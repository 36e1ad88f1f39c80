#include "libsvc/services/applications/application_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/services/applications/application_implementation.h"
#include "libsvc/services/images/image_package.h"

namespace svc {

namespace {

constexpr std::size_t own_threads = 2;    // capture and the short steps of bootstraps
constexpr std::size_t max_jobs = 10'000;  // far more than bootstraps can be

std::string type_or_default(const std::string& instance_type) {
    return instance_type.empty() ? std::string(default_instance_type) : instance_type;
}

void check_instance_type(const std::string& type) {
    if (instance_type_resources(type_or_default(type))) return;
    throw_invalid("instance-type", "unknown instance type " + quoted(type));
}

// What the manifest says otherwise than the one before: the rest may have been changed by PATCH since.
void take_settings(Application& application, const ApplicationManifest& before,
                   const ApplicationManifest& now) {
    if (now.instance_type != before.instance_type)
        application.instance_type = type_or_default(now.instance_type);
    if (now.tags != before.tags) application.tags = now.tags;
    if (now.addons != before.addons) application.addons = now.addons;
    if (!(now.resources == before.resources)) application.resources = now.resources;
    if (now.node_selector != before.node_selector) application.node_selector = now.node_selector;
}

void patch_settings(Application& application, const ApplicationPatch& patch) {
    if (patch.instance_type) {
        check_instance_type(*patch.instance_type);
        application.instance_type = type_or_default(*patch.instance_type);
    }
    if (patch.tags) application.tags = *patch.tags;
    if (patch.addons) application.addons = *patch.addons;
    if (patch.node_selector) application.node_selector = *patch.node_selector;
    if (patch.resources) application.resources = application.resources.changed_by(*patch.resources);
    if (patch.inhibit_auto_updates) application.inhibit_auto_updates = *patch.inhibit_auto_updates;
}

// As of a launch: what it asks for itself must hold the image. What its instance type has may be raised
// there.
void check_disk(const Application& application, std::uint64_t root_bytes) {
    if (application.resources.disk && *application.resources.disk < root_bytes)
        throw_invalid("resources.disk-size", "the image has " + std::to_string(root_bytes) + " bytes");
}

void add_notes(ApplicationVersion& version, const ApplicationPackage& package) {
    if (package.has_apk && package.manifest.boot_package.empty())
        version.notes.emplace_back("boot-package is not in the manifest and is not read from app.apk");
}

}  // namespace

Json ApplicationService::Implementation::Target::to_json() const {
    return Json::object({{"application", application}, {"version", version}, {"bootstrap", bootstrap}});
}

ApplicationService::Implementation::Target ApplicationService::Implementation::Target::of(
    const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {fields.require_string("application"), static_cast<int>(fields.require_int("version")),
            fields.string("bootstrap").value_or("")};
}

ApplicationService::Implementation::Implementation(ApplicationServiceParts parts)
    : parts_(std::move(parts)),
      queue_(parts_.bootstraps_at_once),
      timer_(parts_.clock, "bootstrap-timer"),
      pool_("bootstraps", own_threads, max_jobs) {
    link_->owner = this;
    register_kinds();
    parts_.content.add_referrer([this](ContentReferences& references) { add_references(references); });
}

ApplicationService::Implementation::~Implementation() {
    {
        std::lock_guard lock(link_->mutex);
        link_->owner = nullptr;
    }
    pool_.stop();
}

void ApplicationService::Implementation::register_kinds() {
    using Run = std::function<OperationResult(OperationContext&)>;
    using Undo = std::function<OperationResult(const Operation&, const Error&)>;
    const auto handle = [this](const char* kind, Run run, Undo undo) {
        parts_.engine.handle(kind, OperationHandler{std::move(run), std::move(undo), true});
    };
    const Run update = [this](OperationContext& c) { return run_update(c); };
    const Undo undo = [this](const Operation& o, const Error&) { return undo_update(o); };
    handle("application.create", update, [this](const Operation& o, const Error&) { return undo_create(o); });
    handle("application.update", update, undo);
    handle("application.patch", update, undo);
    handle(
        "application.bootstrap", [this](OperationContext& c) { return run_bootstrap(c); },
        [this](const Operation& o, const Error& e) { return undo_bootstrap(o, e); });
    handle(
        "application.publish", [this](OperationContext& c) { return run_publish(c.operation()); }, nullptr);
    handle(
        "application.delete", [this](OperationContext& c) { return run_delete(c); }, nullptr);
    handle(
        "application.delete_version", [this](OperationContext& c) { return run_delete_version(c); }, nullptr);
    handle(
        "application.import", [this](OperationContext& c) { return run_import(c); },
        [this](const Operation& o, const Error&) { return undo_import(o); });
}

void ApplicationService::Implementation::add_references(ContentReferences& references) const {
    for (const Ptr& application : parts_.applications.list())
        for (const ApplicationVersion& version : application->versions) {
            const ContentReferences content = content_of(*application, version);
            references.blobs.insert(content.blobs.begin(), content.blobs.end());
            references.layers.insert(content.layers.begin(), content.layers.end());
        }
}

OperationSpec ApplicationService::Implementation::spec_for(std::string kind, std::string description,
                                                           std::string_view addressed, const Target& target,
                                                           std::string requestor) const {
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources["applications"] = {"/1.0/applications/" + std::string(addressed)};
    spec.arguments = target.to_json();
    spec.requestor = std::move(requestor);
    return spec;
}

std::shared_ptr<const Application> ApplicationService::Implementation::check_update(
    std::string_view id_or_name) const {
    auto application = parts_.applications.get(id_or_name);
    if (application->deleting) throw_deleting();
    if (application->immutable) throw_not_allowed("updating immutable application");
    return application;
}

Application ApplicationService::Implementation::new_application(const ApplicationManifest& manifest) const {
    Application application;
    application.id = ApplicationId(parts_.ids.object_id());
    application.name = manifest.name;
    application.created_at = parts_.clock.now();
    check_instance_type(manifest.instance_type);
    application.instance_type = type_or_default(manifest.instance_type);
    application.tags = manifest.tags;
    application.addons = manifest.addons;
    application.resources = manifest.resources;
    application.node_selector = manifest.node_selector;
    choose_image(application, manifest.image);
    check_addons(manifest.addons);
    return application;
}

Started ApplicationService::Implementation::create(UploadedPackage package, std::string_view fingerprint,
                                                   std::string requestor) {
    check_fingerprint(package.info, fingerprint);
    const ApplicationPackage content = read_application_package(package.blob->path());
    if (parts_.applications.find(content.manifest.name))
        throw Error(ErrorCode::conflict, "application already exists");
    Application application = new_application(content.manifest);
    const Target target = take_package(application, content, package.info);
    const std::string& id = application.id.str();
    auto spec = spec_for("application.create", "Creating application", id, target, std::move(requestor));
    spec.claims = {update_claim(id, target.version)};
    spec.cancellable = true;
    LayerHold hold(parts_.content);
    hold.add({application.versions.back().parent_layer});
    Started started;
    try {
        parts_.content.keep(std::move(package), [&] {
            Batch batch;
            parts_.applications.stage_create(batch, application);
            started = parts_.engine.start(std::move(spec), std::move(batch));
        });
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict) throw;
        throw Error(ErrorCode::conflict, "application already exists");  // another upload of it was faster
    }
    log::info("application created", {{"application", id}, {"name", application.name}});
    return started;
}

Started ApplicationService::Implementation::update(std::string_view id_or_name, UploadedPackage package,
                                                   std::string_view fingerprint, const std::string& requestor,
                                                   const Precondition& unchanged) {
    const std::string id = check_update(id_or_name)->id.str();
    check_fingerprint(package.info, fingerprint);
    const ApplicationPackage content = read_application_package(package.blob->path());
    const BlobInfo blob = package.info;
    LayerHold hold(parts_.content);
    Started started;
    parts_.content.keep(std::move(package), [&] {
        const auto edit = [&](Application& application) {
            if (unchanged) unchanged(sha256_hex(etag_text(application)));
            return take_package(application, content, blob);
        };
        started = start_update("application.update", id_or_name, id, edit, requestor, hold);
    });
    return started;
}

Started ApplicationService::Implementation::patch(std::string_view id_or_name, const ApplicationPatch& patch,
                                                  const std::string& requestor,
                                                  const Precondition& unchanged) {
    const std::string id = check_update(id_or_name)->id.str();
    LayerHold hold(parts_.content);
    const auto edit = [&](Application& application) {
        if (unchanged) unchanged(sha256_hex(etag_text(application)));
        return take_patch(application, patch);
    };
    return start_update("application.patch", id_or_name, id, edit, requestor, hold);
}

Started ApplicationService::Implementation::start_update(std::string kind, std::string_view addressed,
                                                         const std::string& id, const Edit& edit,
                                                         const std::string& requestor, LayerHold& hold) {
    return retry_on_conflict([&] {
        Target target;
        std::vector<std::string> layers;
        Batch batch;
        parts_.applications.stage_update(batch, id, [&](Application& application) {
            if (application.deleting) throw_deleting();
            const Application before = application;
            target = edit(application);
            forget_stale_exports(before, application);
            if (target.version != Target::no_version) layers = newest_of(application).layers();
        });
        auto spec = spec_for(kind, "Updating application", addressed, target, requestor);
        spec.cancellable = true;
        if (target.version != Target::no_version) {
            spec.claims = {update_claim(id, target.version)};
            hold.add(layers);
        }
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

// A new version from a package; of a new application the first.
ApplicationService::Implementation::Target ApplicationService::Implementation::take_package(
    Application& application, const ApplicationPackage& package, const BlobInfo& blob) const {
    if (const ApplicationVersion* const newest = application.newest()) {
        if (package.manifest.name != application.name)
            throw_invalid("name", "an application cannot be renamed");
        const bool other_image = package.manifest.image != newest->manifest.image;
        if (other_image || image_is_gone(application))
            choose_image(application, other_image ? package.manifest.image : application.image);
        check_instance_type(package.manifest.instance_type);
        check_addons(package.manifest.addons);
        take_settings(application, newest->manifest, package.manifest);
    }
    const Foundation foundation = newest_foundation(application, true);
    check_disk(application, foundation.root_bytes);
    choose_abi(application, package.manifest, foundation);
    ApplicationVersion& version = add_version(application, foundation, package.manifest);
    set_package(version, application.name, blob.digest, blob.size, package.hooks);
    add_notes(version, package);
    return {application.id.str(), version.number, parts_.ids.uuid()};
}

// One version at most, whatever the request changes.
ApplicationService::Implementation::Target ApplicationService::Implementation::take_patch(
    Application& application, const ApplicationPatch& patch) const {
    if (patch.image) choose_image(application, *patch.image);
    if (patch.addons) check_addons(*patch.addons);
    patch_settings(application, patch);
    if (patch.resources) check_disk(application, newest_foundation(application, false).root_bytes);
    const ApplicationVersion& newest = newest_of(application);
    ApplicationManifest manifest = patch.applied_to(newest.manifest);
    const bool other_manifest = !(manifest.to_document() == newest.manifest.to_document());
    const bool other_dependencies = (patch.image || patch.addons) && may_update_itself(application);
    const bool renewed = patch.empty() || other_dependencies || (patch.image && other_manifest) ||
                         (patch.addons && other_manifest);
    const Foundation foundation = renewed ? newest_foundation(application, false) : foundation_of(newest);
    if (!other_manifest && !(renewed && is_behind(newest, foundation)))
        return {application.id.str(), Target::no_version, ""};
    return repeat_version(application, foundation, std::move(manifest));
}

std::string ApplicationService::Implementation::manifest(std::string_view id_or_name,
                                                         std::optional<int> version) const {
    const Ptr application = parts_.applications.get(id_or_name);
    const ApplicationVersion& wanted = version ? version_of(*application, *version) : newest_of(*application);
    ApplicationManifest manifest = wanted.manifest;
    manifest.name = application->name;
    manifest.instance_type = application->instance_type;
    manifest.abi = application->abi;
    for (const auto& image : parts_.images.list())
        if (image->id.str() == wanted.parent_image_id) manifest.image = image->name;
    return to_yaml(manifest.to_document());
}

ApplicationService::ApplicationService(ApplicationServiceParts parts)
    : implementation_(std::make_unique<Implementation>(std::move(parts))) {}
ApplicationService::~ApplicationService() = default;

Started ApplicationService::create(UploadedPackage package, std::string_view fingerprint,
                                   std::string requestor) {
    return implementation_->create(std::move(package), fingerprint, std::move(requestor));
}

std::shared_ptr<const Application> ApplicationService::check_update(std::string_view id_or_name) const {
    return implementation_->check_update(id_or_name);
}

Started ApplicationService::update(std::string_view id_or_name, UploadedPackage package,
                                   std::string_view fingerprint, const std::string& requestor,
                                   const Precondition& unchanged) {
    return implementation_->update(id_or_name, std::move(package), fingerprint, requestor, unchanged);
}

Started ApplicationService::patch(std::string_view id_or_name, const ApplicationPatch& patch,
                                  const std::string& requestor, const Precondition& unchanged) {
    return implementation_->patch(id_or_name, patch, requestor, unchanged);
}

Started ApplicationService::remove(std::string_view id_or_name, bool force, const std::string& requestor) {
    return implementation_->remove(id_or_name, force, requestor);
}

Started ApplicationService::remove_version(std::string_view id_or_name, int version, bool force,
                                           const std::string& requestor) {
    return implementation_->remove_version(id_or_name, version, force, requestor);
}

Started ApplicationService::publish(std::string_view id_or_name, int version, bool published,
                                    const std::string& requestor) {
    return implementation_->publish(id_or_name, version, published, requestor);
}

std::shared_ptr<const Application> ApplicationService::get(std::string_view id_or_name) const {
    return implementation_->applications().get(id_or_name);
}

std::vector<std::shared_ptr<const Application>> ApplicationService::list() const {
    return implementation_->applications().list();
}

std::string ApplicationService::etag(const Application& application) const {
    return sha256_hex(etag_text(application));
}

std::string ApplicationService::manifest(std::string_view id_or_name, std::optional<int> version) const {
    return implementation_->manifest(id_or_name, version);
}

ApplicationExport ApplicationService::export_version(std::string_view id_or_name, int version) {
    return implementation_->export_version(id_or_name, version);
}

Started ApplicationService::import_version(ImportedVersion version, const std::string& requestor) {
    return implementation_->import_version(std::move(version), requestor);
}

void ApplicationService::image_changed(const std::string& image_id) {
    implementation_->image_changed(image_id);
}

void ApplicationService::addon_changed(const std::string& addon) {
    implementation_->addon_changed(addon);
}

void ApplicationService::global_addons_changed() {
    implementation_->global_addons_changed();
}

void ApplicationService::enforce_limits() {
    implementation_->enforce_limits();
}

void ApplicationService::on_published(std::function<void(const std::string& id)> listener) {
    implementation_->on_published(std::move(listener));
}

}  // namespace svc
