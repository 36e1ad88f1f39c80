#include "libsvc/services/applications/application_import.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/common/progress.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/images/image_package.h"

namespace svc {

namespace {

ImageMetadata metadata_of(const ImportedVersion& imported, const std::string& architecture) {
    const auto metadata = read_image_metadata(imported.archive.blob->path(), quick_search_bytes);
    if (!metadata) throw Error(ErrorCode::invalid_argument, "metadata.yaml not found");
    if (metadata->architecture != architecture)
        throw Error(ErrorCode::invalid_argument, "application " + imported.version.name + " is for " +
                                                     *metadata->architecture + ", not for " + architecture);
    return *metadata;
}

ApplicationVersion imported_version(const ImportedVersion& imported, const ImageMetadata& metadata,
                                    Time now) {
    ApplicationVersion version;
    version.number = imported.version.version;
    version.created_at = now;
    version.manifest = imported.version.manifest;
    version.packages = imported.version.packages;
    for (PackageRef& package : version.packages) package.fetch = false;
    version.layer = imported.archive.info.digest;
    static_cast<GuestImage&>(version) = metadata;
    return version;
}

// The settings of an application are those of its newest version.
void take_imported_settings(Application& application, const ExportedVersion& version) {
    if (const ApplicationVersion* const newest = application.newest();
        newest != nullptr && newest->number > version.version)
        return;
    application.instance_type = version.instance_type;
    application.tags = version.tags;
    application.abi = version.abi;
    application.resources = version.resources;
    application.node_selector = version.manifest.node_selector;
}

void insert_version(Application& application, const ApplicationVersion& version) {
    const auto place = std::ranges::find_if(
        application.versions, [&](const ApplicationVersion& v) { return v.number > version.number; });
    application.versions.insert(place, version);
    application.next_version = std::max(application.next_version, version.number + 1);
}

void add_imported(Application& application, const ImportedVersion& imported,
                  const ApplicationVersion& version) {
    if (application.deleting) throw_deleting();
    if (!application.immutable) throw Error(ErrorCode::conflict, "application already exists");
    if (application.version(version.number) != nullptr)
        throw Error(ErrorCode::busy, "import of application " + application.name + " already in progress");
    take_imported_settings(application, imported.version);
    insert_version(application, version);
}

}  // namespace

ApplicationImports::ApplicationImports(ApplicationImportsParts parts) : parts_(std::move(parts)) {
    handle_resumable(
        parts_.engine, "application.import", [this](OperationContext& context) { return run(context); },
        [this](const Operation& operation, const Error&) { return undo(operation); });
}

Application ApplicationImports::new_application(const ImportedVersion& imported) const {
    Application application;
    application.id = ApplicationId(parts_.ids.object_id());
    application.name = imported.version.name;
    application.created_at = parts_.clock.now();
    application.immutable = true;
    return application;
}

Started ApplicationImports::import_version(ImportedVersion imported, const std::string& requestor) {
    const ImageMetadata metadata = metadata_of(imported, parts_.architecture);
    const ApplicationVersion version = imported_version(imported, metadata, parts_.clock.now());
    const auto present = parts_.applications.find(imported.version.name);
    if (present && !present->immutable) throw Error(ErrorCode::conflict, "application already exists");
    if (present && !present->deleting && present->version(version.number) != nullptr)
        return start(present->id.str(), ApplicationTarget::no_version, requestor, {});
    Started started;
    parts_.content.keep(std::move(imported.archive), [&] {
        started = retry_on_conflict([&] { return start_import(imported, version, requestor); });
    });
    return started;
}

std::vector<Started> ApplicationImports::in_progress(std::string_view application_id) const {
    std::vector<Started> found = parts_.engine.list();
    std::erase_if(found, [&](const Started& operation) {
        return operation->kind != "application.import" || is_final(operation->status) ||
               ApplicationTarget::of(*operation).application != application_id;
    });
    return found;
}

Started ApplicationImports::start(const std::string& id, int number, const std::string& requestor,
                                  Batch batch) {
    const ApplicationTarget target{id, number, ""};
    auto spec = application_operation("application.import", "Importing application", id, target, requestor);
    if (target.has_version()) spec.claims = {version_claim(id, number)};
    spec.cancellable = true;
    return parts_.engine.start(std::move(spec), std::move(batch));
}

Started ApplicationImports::start_import(const ImportedVersion& imported, const ApplicationVersion& version,
                                         const std::string& requestor) {
    const auto add = [&](Application& application) { add_imported(application, imported, version); };
    Batch batch;
    if (const auto known = parts_.applications.find(imported.version.name)) {
        parts_.applications.stage_update(batch, known->id.str(), add);
        return start(known->id.str(), version.number, requestor, std::move(batch));
    }
    Application application = new_application(imported);
    add(application);
    parts_.applications.stage_create(batch, application);
    return start(application.id.str(), version.number, requestor, std::move(batch));
}

OperationResult ApplicationImports::run(OperationContext& context) {
    const auto target = ApplicationTarget::of(context.operation());
    if (!target.has_version()) return {};  // the version was there already
    const auto application = parts_.applications.get(target.application);
    const ApplicationVersion& version = version_of(*application, target.version);
    if (version.status != ImageStatus::initializing) return {};  // an earlier process has finished it
    const std::string layer = version.layer;
    parts_.content.layers().add(layer, parts_.content.blobs().path(layer), unpack_progress(context));
    return finish(target, layer);
}

OperationResult ApplicationImports::finish(const ApplicationTarget& target, const std::string& layer) {
    const std::uint64_t size = parts_.content.layers().size(layer);
    OperationResult result;
    result.stage = [this, target, size](Batch& last) {
        parts_.applications.stage_update(last, target.application, [&](Application& record) {
            version_of(record, target.version);
            ApplicationVersion& active = *record.version(target.version);
            if (active.status != ImageStatus::initializing)
                throw Error(ErrorCode::cancelled, "Operation cancelled");
            active.status = ImageStatus::active;
            active.layer_size = size;
            active.published = true;  // registries have published versions only
        });
    };
    result.after = [this, target, layer] {
        parts_.content.drop({layer}, {});
        parts_.publication.enforce_limit(target.application);
        log::info("application version imported",
                  {{"application", target.application}, {"version", std::to_string(target.version)}});
    };
    return result;
}

// Removes the application too when this was its only version.
OperationResult ApplicationImports::undo(const Operation& operation) {
    const auto target = ApplicationTarget::of(operation);
    const auto application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || version->status != ImageStatus::initializing) return {};
    OperationResult result = parts_.removal.erase_version(target);
    if (application->deleting) return result;
    result.stage = [this, target](Batch& last) {
        const auto now = parts_.applications.find(target.application);
        if (!now) return;
        if (now->versions.size() == 1) return parts_.applications.stage_remove(last, target.application);
        parts_.applications.stage_update(last, target.application, [&](Application& record) {
            std::erase_if(record.versions, [&](const auto& v) { return v.number == target.version; });
        });
    };
    return result;
}

}  // namespace svc
