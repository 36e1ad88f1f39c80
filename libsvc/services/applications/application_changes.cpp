#include "libsvc/services/applications/application_changes.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_export.h"
#include "libsvc/services/applications/application_settings.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/common/retry.h"

namespace svc {

ApplicationChanges::ApplicationChanges(ApplicationChangesParts parts) : parts_(parts) {
    const auto start_bootstrap = [this](OperationContext& context) { return run(context.operation()); };
    const auto undo = [this](const Operation& operation, const Error&) { return undo_update(operation); };
    handle_resumable(parts_.engine, "application.create", start_bootstrap,
                     [this](const Operation& operation, const Error&) { return undo_create(operation); });
    handle_resumable(parts_.engine, "application.update", start_bootstrap, undo);
    handle_resumable(parts_.engine, "application.patch", start_bootstrap, undo);
}

Application ApplicationChanges::new_application(const ApplicationManifest& manifest) const {
    Application application;
    application.id = ApplicationId(parts_.ids.object_id());
    application.name = manifest.name;
    application.created_at = parts_.clock.now();
    set_settings(application, manifest);
    parts_.foundations.choose_image(application, manifest.image);
    parts_.foundations.check_addons(manifest.addons);
    return application;
}

Started ApplicationChanges::create(UploadedPackage package, std::string_view fingerprint,
                                   std::string requestor) {
    check_fingerprint(package.info, fingerprint);
    const ApplicationPackage content = read_application_package(package.blob->path(), parts_.apks);
    if (parts_.applications.find(content.manifest.name))
        throw Error(ErrorCode::conflict, "application already exists");
    Application application = new_application(content.manifest);
    const ApplicationTarget target = take_package(application, content, package.info);
    return start_create(application, target, std::move(package), std::move(requestor));
}

Started ApplicationChanges::start_create(const Application& application, const ApplicationTarget& target,
                                         UploadedPackage package, std::string requestor) {
    const std::string& id = application.id.str();
    auto spec =
        application_operation("application.create", "Creating application", id, target, std::move(requestor));
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

Started ApplicationChanges::update(std::string_view id_or_name, UploadedPackage package,
                                   std::string_view fingerprint, const std::string& requestor,
                                   const Precondition& unchanged) {
    const std::string id = parts_.records.check_update(id_or_name)->id.str();
    check_fingerprint(package.info, fingerprint);
    const ApplicationPackage content = read_application_package(package.blob->path(), parts_.apks);
    const BlobInfo blob = package.info;
    LayerHold hold(parts_.content);
    Started started;
    parts_.content.keep(std::move(package), [&] {
        const auto edit = [&](Application& application) {
            if (unchanged) unchanged(parts_.records.etag(application));
            return take_package(application, content, blob);
        };
        started = start("application.update", id_or_name, id, edit, requestor, hold);
    });
    return started;
}

Started ApplicationChanges::patch(std::string_view id_or_name, const ApplicationPatch& patch,
                                  const std::string& requestor, const Precondition& unchanged) {
    const std::string id = parts_.records.check_update(id_or_name)->id.str();
    LayerHold hold(parts_.content);
    const auto edit = [&](Application& application) {
        if (unchanged) unchanged(parts_.records.etag(application));
        return take_patch(application, patch);
    };
    return start("application.patch", id_or_name, id, edit, requestor, hold);
}

Started ApplicationChanges::start(std::string kind, std::string_view addressed, const std::string& id,
                                  const Edit& edit, const std::string& requestor, LayerHold& hold) {
    return retry_on_conflict([&] {
        ApplicationTarget target;
        std::vector<std::string> layers;
        Batch batch;
        parts_.applications.stage_update(batch, id, [&](Application& application) {
            if (application.deleting) throw_deleting();
            const Application before = application;
            target = edit(application);
            forget_stale_exports(before, application);
            if (target.has_version()) layers = newest_of(application).layers();
        });
        auto spec = application_operation(kind, "Updating application", addressed, target, requestor);
        spec.cancellable = true;
        if (target.has_version()) {
            spec.claims = {update_claim(id, target.version)};
            hold.add(layers);
        }
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

// A new version from a package; the first version of a new application.
ApplicationTarget ApplicationChanges::take_package(Application& application,
                                                   const ApplicationPackage& package,
                                                   const BlobInfo& blob) const {
    const VersionFoundations& foundations = parts_.foundations;
    if (const ApplicationVersion* const newest = application.newest()) {
        if (package.manifest.name != application.name)
            throw_invalid("name", "an application cannot be renamed");
        const bool other_image = package.manifest.image != newest->manifest.image;
        if (other_image || foundations.image_is_gone(application))
            foundations.choose_image(application, other_image ? package.manifest.image : application.image);
        check_instance_type(package.manifest.instance_type);
        foundations.check_addons(package.manifest.addons);
        take_settings(application, newest->manifest, package.manifest);
    }
    const VersionFoundation foundation = foundations.newest(application, true);
    check_disk(application, foundation.root_bytes);
    foundations.choose_abi(application, package, foundation);
    ApplicationVersion& version = parts_.versions.add(application, foundation, package.manifest);
    VersionMaker::set_package(version, application.name, blob.digest, blob.size, package.hooks);
    version.notes = package.notes;
    return parts_.versions.target(application, version);
}

ApplicationTarget ApplicationChanges::take_patch(Application& application,
                                                 const ApplicationPatch& patch) const {
    const VersionFoundations& foundations = parts_.foundations;
    if (patch.image) foundations.choose_image(application, *patch.image);
    if (patch.addons) foundations.check_addons(*patch.addons);
    if (patch.pool)
        check_pool(*patch.pool, static_cast<int>(parts_.config.values().number("application.max_pool_size")));
    patch_settings(application, patch);
    if (patch.resources) check_disk(application, foundations.newest(application, false).root_bytes);
    const ApplicationVersion& newest = newest_of(application);
    ApplicationManifest manifest = patch.applied_to(newest.manifest);
    const bool other_manifest = !(manifest.to_document() == newest.manifest.to_document());
    const bool other_dependencies =
        (patch.image || patch.addons) && foundations.may_update_itself(application);
    const bool renewed = patch.empty() || other_dependencies || (patch.image && other_manifest) ||
                         (patch.addons && other_manifest);
    const VersionFoundation foundation =
        renewed ? foundations.newest(application, false) : foundation_of(newest);
    if (!other_manifest && !(renewed && is_behind(newest, foundation)))
        return {application.id.str(), ApplicationTarget::no_version, ""};
    return parts_.versions.repeat(application, foundation, std::move(manifest));
}

OperationResult ApplicationChanges::run(const Operation& operation) {
    const auto target = ApplicationTarget::of(operation);
    if (target.has_version()) parts_.bootstraps.start(target, operation.requestor);
    return {};
}

OperationResult ApplicationChanges::undo_create(const Operation& operation) {
    const auto target = ApplicationTarget::of(operation);
    const auto application = parts_.applications.find(target.application);
    if (!application || operation_exists(parts_.engine, target.bootstrap)) return {};
    OperationResult result;
    result.stage = [this, target](Batch& last) {
        parts_.applications.stage_remove(last, target.application);
    };
    result.after = [this, content = content_of(*application, version_of(*application, target.version))] {
        parts_.content.drop(content);
    };
    return result;
}

OperationResult ApplicationChanges::undo_update(const Operation& operation) {
    const auto target = ApplicationTarget::of(operation);
    const auto application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || operation_exists(parts_.engine, target.bootstrap)) return {};
    return parts_.removal.erase_version(target);
}

}  // namespace svc
