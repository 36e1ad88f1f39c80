// Versions that were made elsewhere: a registry's.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_implementation.h"
#include "libsvc/services/images/image_package.h"

namespace svc {

namespace {

Json progress_json(std::uint64_t bytes, std::uint64_t total) {
    const std::uint64_t percent = total > 0 ? std::min<std::uint64_t>(100, bytes * 100 / total) : 0;
    return Json::object(
        {{"progress", Json::object({{"percent", percent}, {"processed", bytes}, {"total", total}})}});
}

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

// The newest version's word counts for what belongs to the application.
void take_settings(Application& application, const ExportedVersion& version) {
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
    take_settings(application, imported.version);
    insert_version(application, version);
}

}  // namespace

Application ApplicationService::Implementation::imported_application(const ImportedVersion& imported) const {
    Application application;
    application.id = ApplicationId(parts_.ids.object_id());
    application.name = imported.version.name;
    application.created_at = parts_.clock.now();
    application.immutable = true;
    return application;
}

Started ApplicationService::Implementation::import_version(ImportedVersion imported,
                                                           const std::string& requestor) {
    const ImageMetadata metadata = metadata_of(imported, parts_.architecture);
    const ApplicationVersion version = imported_version(imported, metadata, parts_.clock.now());
    const auto start = [&](const std::string& id, int number, Batch batch) {
        auto spec = spec_for("application.import", "Importing application", id, {id, number, ""}, requestor);
        if (number != Target::no_version) spec.claims = {version_claim(id, number)};
        spec.cancellable = true;
        return parts_.engine.start(std::move(spec), std::move(batch));
    };
    const auto add = [&](Application& application) { add_imported(application, imported, version); };
    const Ptr present = parts_.applications.find(imported.version.name);
    if (present && !present->immutable) throw Error(ErrorCode::conflict, "application already exists");
    if (present && !present->deleting && present->version(version.number) != nullptr)
        return start(present->id.str(), Target::no_version, {});
    Started started;
    parts_.content.keep(std::move(imported.archive), [&] {
        started = retry_on_conflict([&] {
            const Ptr known = parts_.applications.find(imported.version.name);
            Batch batch;
            std::string id;
            if (known) {
                id = known->id.str();
                parts_.applications.stage_update(batch, id, add);
            } else {
                Application application = imported_application(imported);
                id = application.id.str();
                add(application);
                parts_.applications.stage_create(batch, application);
            }
            return start(id, version.number, std::move(batch));
        });
    });
    return started;
}

OperationResult ApplicationService::Implementation::run_import(OperationContext& context) {
    const Target target = Target::of(context.operation());
    if (target.version == Target::no_version) return {};  // it was there already
    const Ptr application = parts_.applications.get(target.application);
    const ApplicationVersion& version = version_of(*application, target.version);
    if (version.status != ImageStatus::initializing) return {};  // done in an earlier life
    const std::string layer = version.layer;
    LayerStore::Progress progress;
    progress.stop = context.stop();
    progress.report = [&context](std::uint64_t bytes, std::uint64_t total) {
        context.progress(progress_json(bytes, total));
    };
    parts_.content.layers().add(layer, parts_.content.blobs().path(layer), progress);
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
            active.published = true;  // as it is there
        });
    };
    result.after = [this, target, layer] {
        parts_.content.drop({layer}, {});
        enforce_limit(target.application);
        log::info("application version imported",
                  {{"application", target.application}, {"version", std::to_string(target.version)}});
    };
    return result;
}

// The application too when nothing else of it is there.
OperationResult ApplicationService::Implementation::undo_import(const Operation& operation) {
    const Target target = Target::of(operation);
    const Ptr application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || version->status != ImageStatus::initializing) return {};
    OperationResult result = erase_version(target);
    if (application->deleting) return result;
    result.stage = [this, target](Batch& last) {
        const Ptr now = parts_.applications.find(target.application);
        if (!now) return;
        if (now->versions.size() == 1) return parts_.applications.stage_remove(last, target.application);
        parts_.applications.stage_update(last, target.application, [&](Application& record) {
            std::erase_if(record.versions, [&](const auto& v) { return v.number == target.version; });
        });
    };
    return result;
}

}  // namespace svc
