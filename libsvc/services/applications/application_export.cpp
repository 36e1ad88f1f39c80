#include "libsvc/services/applications/application_export.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/common/layer_hold.h"

namespace svc {

namespace {

constexpr std::size_t read_size = std::size_t{256} << 10;

// The form that ImageMetadata::parse() reads.
Json properties_of(const Application& application, const ApplicationVersion& version) {
    Json properties = Json::object({{"name", application.name}});
    properties.set("description",
                   "application " + application.name + ", version " + std::to_string(version.number));
    if (!version.manifest.version.empty()) properties.set("version", version.manifest.version);
    add_guest_properties(version, properties);
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

namespace {

ExportRequest export_request(const Application& application, const ApplicationVersion& version) {
    const Json metadata = Json::object({{"architecture", *version.architecture},
                                        {"creation_date", to_unix_seconds(version.created_at)},
                                        {"properties", properties_of(application, version)},
                                        {"application", exported(application, version).to_json()}});
    return {version.layers(), to_yaml(metadata)};
}

}  // namespace

void forget_stale_exports(const Application& before, Application& application) {
    for (ApplicationVersion& version : application.versions) {
        const ApplicationVersion* const old = before.version(version.number);
        if (old == nullptr || exported(before, *old).to_json() == exported(application, version).to_json())
            continue;
        version.export_fingerprint.clear();
        version.export_size = 0;
    }
}

ApplicationExport ApplicationExports::export_version(std::string_view id_or_name, int number) {
    const std::string id = applications_.get(id_or_name)->id.str();
    auto hold = std::make_unique<LayerHold>(content_);
    hold->add(version_of(*applications_.get(id), number).layers());
    const auto application = applications_.get(id);  // read again, now that the layers stay
    const ApplicationVersion& version = version_of(*application, number);
    if (version.status != ImageStatus::active || application->deleting)
        throw Error(ErrorCode::invalid_argument, "exporting version " + std::to_string(number) +
                                                     " not allowed: it is " +
                                                     std::string(to_text(version.status)));
    const ExportRequest request = export_request(*application, version);
    ApplicationExport result;
    result.fingerprint = version.export_fingerprint;
    result.size = version.export_size;
    if (result.fingerprint.empty()) measure(*application, version, request, result);
    result.file_name = application->name + "-" + std::to_string(number) + ".tar.gz";
    result.manifest_sha256 = sha256_hex(records_.manifest(id, number));
    result.archive = held_archive(std::move(hold), content_.layers().export_archive(request));
    log::info(
        "application version exported",
        {{"application", id}, {"version", std::to_string(number)}, {"fingerprint", result.fingerprint}});
    return result;
}

// Reads the whole archive. Its fingerprint is stored unless the metadata has changed meanwhile.
void ApplicationExports::measure(const Application& application, const ApplicationVersion& version,
                                 const ExportRequest& request, ApplicationExport& result) {
    const auto archive = content_.layers().export_archive(request);
    Sha256 digest;
    for (std::string part = archive->read(read_size); !part.empty(); part = archive->read(read_size)) {
        digest.update(part);
        result.size += part.size();
    }
    result.fingerprint = digest.hex();
    applications_.update(application.id.str(), [&](Application& record) {
        ApplicationVersion* const now = record.version(version.number);
        if (now == nullptr || export_request(record, *now).metadata != request.metadata) return;
        now->export_fingerprint = result.fingerprint;
        now->export_size = result.size;
    });
}

}  // namespace svc
