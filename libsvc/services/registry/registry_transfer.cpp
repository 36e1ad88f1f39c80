// What the operations of the registry do in the background.
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/await_operation.h"
#include "libsvc/services/registry/registry_choice.h"
#include "libsvc/services/registry/registry_work.h"

namespace svc {

namespace {

constexpr std::size_t max_metadata_bytes = 2U << 20;
constexpr std::uint64_t metadata_search_bytes = 16U << 20;  // it stands at the top

void throw_if_stopped(const OperationContext& context) {
    if (context.stop().stop_requested()) throw Error(ErrorCode::cancelled, "transfer was cancelled");
}

// Bytes of the version on its way, and how many versions of the operation are done, as a share of all.
class TransferProgress {
  public:
    TransferProgress(OperationContext& context, int version, std::uint64_t total)
        : context_(context), version_(version), total_(total) {}
    void add(std::size_t bytes) {
        throw_if_stopped(context_);
        processed_ += bytes;
        const std::uint64_t percent =
            total_ > 0 ? std::min<std::uint64_t>(100, processed_ * 100 / total_) : 0;
        context_.progress(Json::object(
            {{"version", version_},
             {"progress",
              Json::object({{"percent", percent}, {"processed", processed_}, {"total", total_}})}}));
    }

  private:
    OperationContext& context_;
    int version_;
    std::uint64_t total_;  // 0: not known
    std::uint64_t processed_ = 0;
};

// Who the archive says it is. The registry's word alone is not taken for it.
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

// What cannot be done because the daemon stops is done after its next start.
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

void RegistryWork::register_kinds() {
    const auto handle = [this](const char* kind, auto run) {
        OperationHandler handler;
        handler.run = [run](OperationContext& context) {
            return resumable(context, [&] { return run(context); });
        };
        handler.resumable = true;  // what is there already is left out the next time
        parts_.engine.handle(kind, std::move(handler));
    };
    handle("registry.push", [this](OperationContext& context) { return run_push(context); });
    handle("registry.pull", [this](OperationContext& context) { return run_pull(context); });
    handle("registry.delete", [this](OperationContext& context) { return run_remove(context); });
}

OperationResult RegistryWork::run_push(OperationContext& context) {
    const Json& arguments = context.operation().arguments;
    const auto application = parts_.applications.get(JsonFields(arguments).require_string("application"));
    const auto catalogue = open();
    // What was stored before a push named its versions does not.
    const auto wanted =
        arguments.find("versions") ? versions_of(arguments) : versions_by_itself(*application);
    for (const int version : missing_there(*catalogue, *application, wanted))
        push_version(*catalogue, *application, version, context);
    return {};
}

void RegistryWork::push_version(Catalogue& catalogue, const Application& application, int number,
                                OperationContext& context) {
    throw_if_stopped(context);
    const std::string id = application.id.str();
    const ApplicationVersion& version = *application.version(number);
    const ApplicationExport exported = parts_.applications.export_version(id, number);
    TransferProgress progress(context, number, exported.size);
    CatalogueUpload upload;
    upload.application = catalogue_record(application, version);
    upload.version = number;
    upload.architecture = version.architecture;
    upload.fingerprint = exported.fingerprint;
    upload.size = exported.size;
    upload.manifest = parts_.applications.manifest(id, number);
    upload.read = [&](std::size_t at_most) {
        std::string piece = exported.archive->read(at_most);
        progress.add(piece.size());
        return piece;
    };
    catalogue.upload(upload);
    log::info("application version pushed",
              {{"application", application.name}, {"version", std::to_string(number)}});
}

// One version that cannot be had does not keep the others away.
OperationResult RegistryWork::run_pull(OperationContext& context) {
    const std::string name = JsonFields(context.operation().arguments).require_string("name");
    const auto catalogue = open();
    const auto offered = catalogue->list();
    const auto found =
        std::find_if(offered.begin(), offered.end(), [&](const auto& one) { return one.name == name; });
    if (found == offered.end()) throw Error(ErrorCode::not_found, "application not found in the registry");
    std::optional<Error> failure;
    for (const int version : missing_here(*catalogue, *found)) {
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

void RegistryWork::pull_version(Catalogue& catalogue, const std::string& name, int version,
                                OperationContext& context) {
    throw_if_stopped(context);
    const auto local = find_local(name);
    if (local && !local->immutable)
        throw Error(ErrorCode::conflict, "application " + quoted(name) + " already exists");
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
    ImportedVersion imported = read_archive(archive.blob->path());
    check_is_asked_for(imported, name, version, parts_.architecture);
    imported.archive = std::move(archive);
    const Started started =
        parts_.applications.import_version(std::move(imported), context.operation().requestor);
    if (started) await_operation(parts_.engine, *started, context);
    log::info("application version pulled", {{"application", name}, {"version", std::to_string(version)}});
}

OperationResult RegistryWork::run_remove(const OperationContext& context) {
    const std::string name = JsonFields(context.operation().arguments).require_string("name");
    try {
        open()->remove(name);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found || !context.resumed()) throw;
    }
    // Else the publisher would send it again at the next comparison.
    const auto local = find_local(name);
    if (local && local->newest() != nullptr) withdrawals_.withdraw(name, local->newest()->number);
    return {};
}

}  // namespace svc
