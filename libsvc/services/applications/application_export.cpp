// Versions as archives that another service can import, and this one as an image.
#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/services/applications/application_implementation.h"

namespace svc {

namespace {

constexpr std::size_t read_size = std::size_t{256} << 10;

// Keeps the layers for as long as somebody reads.
class HeldArchive final : public ArchiveStream {
  public:
    HeldArchive(std::unique_ptr<LayerHold> hold, std::unique_ptr<ArchiveStream> archive)
        : hold_(std::move(hold)), archive_(std::move(archive)) {}
    std::string read(std::size_t at_most) override { return archive_->read(at_most); }

  private:
    std::unique_ptr<LayerHold> hold_;  // before what reads the layers: goes after it
    std::unique_ptr<ArchiveStream> archive_;
};

// As ImageMetadata::parse() reads them.
Json properties_of(const Application& application, const ApplicationVersion& version) {
    Json properties = Json::object({{"name", application.name}});
    properties.set("description",
                   "application " + application.name + ", version " + std::to_string(version.number));
    const auto set = [&properties](const char* key, const std::string& value) {
        if (!value.empty()) properties.set(key, value);
    };
    set("version", version.manifest.version);
    set("init", version.init);
    set("variant", version.image_variant);
    set("ready_file", version.ready->file);
    set("ready_command", version.ready->command);
    if (version.ready->port != 0) set("ready_port", std::to_string(version.ready->port));
    return properties;
}

}  // namespace

ExportedVersion exported(const Application& application, const ApplicationVersion& version) {
    ExportedVersion result;
    result.name = application.name;
    result.manifest = version.manifest;
    result.packages = version.packages;
    result.version = version.number;
    result.instance_type = application.instance_type;
    result.abi = application.abi;
    result.tags = application.tags;
    result.resources = application.resources;
    return result;
}

void forget_stale_exports(const Application& before, Application& application) {
    for (ApplicationVersion& version : application.versions) {
        const ApplicationVersion* const old = before.version(version.number);
        if (old == nullptr || exported(before, *old).to_json() == exported(application, version).to_json())
            continue;
        version.export_fingerprint.clear();
        version.export_size = 0;
    }
}

ExportRequest ApplicationService::Implementation::export_request(const Application& application,
                                                                 const ApplicationVersion& version) const {
    const Json metadata = Json::object({{"architecture", *version.architecture},
                                        {"creation_date", to_unix_seconds(version.created_at)},
                                        {"properties", properties_of(application, version)},
                                        {"application", exported(application, version).to_json()}});
    return {version.layers(), to_yaml(metadata)};
}

ApplicationExport ApplicationService::Implementation::export_version(std::string_view id_or_name,
                                                                     int number) {
    const std::string id = parts_.applications.get(id_or_name)->id.str();
    auto hold = std::make_unique<LayerHold>(parts_.content);
    hold->add(version_of(*parts_.applications.get(id), number).layers());
    const Ptr application = parts_.applications.get(id);  // as it is now that the layers stay
    const ApplicationVersion& version = version_of(*application, number);
    if (version.status != ImageStatus::active || application->deleting)
        throw Error(ErrorCode::invalid_argument, "exporting version " + std::to_string(number) +
                                                     " not allowed: it is " +
                                                     std::string(to_text(version.status)));
    const ExportRequest request = export_request(*application, version);
    ApplicationExport result;
    result.fingerprint = version.export_fingerprint;
    result.size = version.export_size;
    if (result.fingerprint.empty()) measure_export(*application, version, request, result);
    result.file_name = application->name + "-" + std::to_string(number) + ".tar.gz";
    result.manifest_sha256 = sha256_hex(manifest(id, number));
    result.archive =
        std::make_unique<HeldArchive>(std::move(hold), parts_.content.layers().export_archive(request));
    log::info(
        "application version exported",
        {{"application", id}, {"version", std::to_string(number)}, {"fingerprint", result.fingerprint}});
    return result;
}

// Once through the archive. What was found is stored unless the record has moved on.
void ApplicationService::Implementation::measure_export(const Application& application,
                                                        const ApplicationVersion& version,
                                                        const ExportRequest& request,
                                                        ApplicationExport& result) {
    const auto archive = parts_.content.layers().export_archive(request);
    Sha256 digest;
    for (std::string part = archive->read(read_size); !part.empty(); part = archive->read(read_size)) {
        digest.update(part);
        result.size += part.size();
    }
    result.fingerprint = digest.hex();
    parts_.applications.update(application.id.str(), [&](Application& record) {
        ApplicationVersion* const now = record.version(version.number);
        if (now == nullptr || export_request(record, *now).metadata != request.metadata) return;
        now->export_fingerprint = result.fingerprint;
        now->export_size = result.size;
    });
}

}  // namespace svc
