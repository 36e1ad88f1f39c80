#include "libsvc/services/registry/registry_transfer.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/await_operation.h"
#include "libsvc/services/common/progress.h"
#include "libsvc/services/registry/catalogue_versions.h"

namespace svc {

namespace {

constexpr std::size_t max_metadata_bytes = 2U << 20;
constexpr std::uint64_t metadata_search_bytes = 16U << 20;  // metadata.yaml is the first member

void throw_if_stopped(const OperationContext& context) {
    if (context.stop().stop_requested()) throw Error(ErrorCode::cancelled, "transfer was cancelled");
}

// Shows how many bytes of one version have been transferred.
class TransferProgress {
  public:
    TransferProgress(OperationContext& context, int version, std::uint64_t total)
        : context_(context), version_(version), total_(total) {}
    void add(std::size_t bytes) {
        throw_if_stopped(context_);
        processed_ += bytes;
        context_.progress(
            Json::object({{"version", version_}, {"progress", progress_json(processed_, total_)}}));
    }

  private:
    OperationContext& context_;
    int version_;
    std::uint64_t total_;  // 0: unknown
    std::uint64_t processed_ = 0;
};

// Reads from the archive which version it is: what the registry says of it is not trusted.
ImportedVersion read_archive(const std::filesystem::path& archive) {
    bool searched_all = false;
    const auto text = read_archive_member(archive, "metadata.yaml", max_metadata_bytes, metadata_search_bytes,
                                          &searched_all);
    if (!text) throw Error(ErrorCode::invalid_argument, "metadata.yaml not found");
    const Json metadata = parse_yaml(*text);
    const Json* const application = metadata.find("application");
    if (application == nullptr)
        throw Error(ErrorCode::invalid_argument, "archive is not that of an application version");
    ImportedVersion imported;
    imported.version = ExportedVersion::from_json(*application);
    imported.architecture = JsonFields(metadata).require_string("architecture");
    return imported;
}

void check_is_asked_for(const ImportedVersion& imported, const std::string& name, int version,
                        const std::string& architecture) {
    if (imported.version.name != name || imported.version.version != version ||
        imported.architecture != architecture)
        throw Error(ErrorCode::invalid_argument,
                    "archive is that of another application version: " + quoted(imported.version.name) + " " +
                        std::to_string(imported.version.version) + " for " + quoted(imported.architecture));
}

// An error that comes from the stop of the daemon ends as cancelled, so that the operation is resumed after
// the next start.
template <class Run>
OperationResult resumable(const OperationContext& context, Run&& run) {
    try {
        return run();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable || !context.stop().stop_requested()) throw;
        throw Error(ErrorCode::cancelled, e.what());
    }
}

}  // namespace

RegistryTransfer::RegistryTransfer(RegistryTransferParts parts) : parts_(std::move(parts)) {
    const auto handle = [this](const char* kind, auto run) {
        OperationHandler handler;
        handler.run = [run](OperationContext& context) {
            return resumable(context, [&] { return run(context); });
        };
        handler.resumable = true;
        parts_.engine.handle(kind, std::move(handler));
    };
    handle("registry.push", [this](OperationContext& context) { return run_push(context); });
    handle("registry.pull", [this](OperationContext& context) { return run_pull(context); });
    handle("registry.delete", [this](OperationContext& context) { return run_remove(context); });
}

OperationResult RegistryTransfer::run_push(OperationContext& context) {
    const Json& arguments = context.operation().arguments;
    const auto application = parts_.applications.get(JsonFields(arguments).require_string("application"));
    const auto catalogue = parts_.connection.open();
    // Operations that an earlier version of this service stored name no versions.
    const auto wanted = arguments.find("versions") ? versions_of(arguments)
                                                   : parts_.missing.to_publish_without_request(*application);
    for (const int version : MissingVersions::missing_there(*catalogue, *application, wanted))
        push_version(*catalogue, *application, version, context);
    return {};
}

void RegistryTransfer::push_version(Catalogue& catalogue, const Application& application, int number,
                                    OperationContext& context) {
    throw_if_stopped(context);
    const std::string id = application.id.str();
    const ApplicationVersion& version = *application.version(number);
    const ApplicationExport exported = parts_.applications.exports().export_version(id, number);
    TransferProgress progress(context, number, exported.size);
    CatalogueUpload upload;
    upload.application = catalogue_record(application, version);
    upload.version = number;
    upload.architecture = version.architecture;
    upload.fingerprint = exported.fingerprint;
    upload.size = exported.size;
    upload.manifest = parts_.applications.records().manifest(id, number);
    upload.read = [&](std::size_t at_most) {
        std::string piece = exported.archive->read(at_most);
        progress.add(piece.size());
        return piece;
    };
    catalogue.upload(upload);
    log::info("application version pushed",
              {{"application", application.name}, {"version", std::to_string(number)}});
}

// An error with one version does not stop the others.
OperationResult RegistryTransfer::run_pull(OperationContext& context) {
    const std::string name = JsonFields(context.operation().arguments).require_string("name");
    const auto catalogue = parts_.connection.open();
    const auto offered = catalogue->list();
    const auto found =
        std::find_if(offered.begin(), offered.end(), [&](const auto& one) { return one.name == name; });
    if (found == offered.end()) throw Error(ErrorCode::not_found, "application not found in the registry");
    await_imports(name, context);
    std::optional<Error> failure;
    for (const int version : parts_.missing.missing_here(*catalogue, *found)) {
        try {
            with_context("version " + std::to_string(version),
                         [&] { pull_version(*catalogue, name, version, context); });
        } catch (const Error& e) {
            if (e.code() == ErrorCode::cancelled || e.code() == ErrorCode::unavailable) throw;
            failure.emplace(e);
        }
    }
    if (failure) throw Error(*failure);
    return {};
}

// The process that began this pull may have died after it stored a version and before it unpacked the
// version's layer: that import goes on by itself, and the pull has not ended before it. When it fails, the
// version is missing again.
void RegistryTransfer::await_imports(const std::string& name, const OperationContext& context) {
    const auto local = parts_.missing.find_local(name);
    if (!local) return;
    for (const Started& import : parts_.applications.imports().in_progress(local->id.str())) {
        try {
            await_operation(parts_.engine, *import, context);
        } catch (const Error& e) {
            if (e.code() == ErrorCode::cancelled) throw;
        }
    }
}

void RegistryTransfer::pull_version(Catalogue& catalogue, const std::string& name, int version,
                                    OperationContext& context) {
    throw_if_stopped(context);
    const auto local = parts_.missing.find_local(name);
    if (local && !local->immutable)
        throw Error(ErrorCode::conflict, "application " + quoted(name) + " already exists");
    UploadedPackage archive = download(catalogue, name, version, context);
    ImportedVersion imported = read_archive(archive.blob->path());
    check_is_asked_for(imported, name, version, parts_.architecture);
    imported.archive = std::move(archive);
    const Started started =
        parts_.applications.imports().import_version(std::move(imported), context.operation().requestor);
    if (started) await_operation(parts_.engine, *started, context);
    log::info("application version pulled", {{"application", name}, {"version", std::to_string(version)}});
}

UploadedPackage RegistryTransfer::download(Catalogue& catalogue, const std::string& name, int version,
                                           OperationContext& context) {
    TransferProgress progress(context, version, 0);
    UploadedPackage archive;
    archive.blob = parts_.blobs.create(0);
    const CatalogueDownload download =
        catalogue.download(name, version, parts_.architecture, [&](std::string_view piece) {
            progress.add(piece.size());
            archive.blob->write(piece);
        });
    archive.info = archive.blob->finish();
    if (archive.info.digest != download.fingerprint)
        throw Error(ErrorCode::invalid_argument, "fingerprint don't match, got " + archive.info.digest +
                                                     " but expected " + download.fingerprint);
    return archive;
}

OperationResult RegistryTransfer::run_remove(const OperationContext& context) {
    const std::string name = JsonFields(context.operation().arguments).require_string("name");
    try {
        parts_.connection.open()->remove(name);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found || !context.resumed()) throw;
    }
    // Otherwise the publisher would send it again at the next comparison.
    const auto local = parts_.missing.find_local(name);
    if (local && local->newest() != nullptr) parts_.withdrawals.withdraw(name, local->newest()->number);
    return {};
}

}  // namespace svc
