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

ExportRequest export_request(const Application& application, const ApplicationVersion& version,
                             Compression compression) {
    const Json metadata = Json::object({{"architecture", *version.architecture},
                                        {"creation_date", to_unix_seconds(version.created_at)},
                                        {"properties", properties_of(application, version)},
                                        {"application", exported(application, version).to_json()}});
    return {version.layers(), to_yaml(metadata), compression};
}

void check_exportable(const Application& application, const ApplicationVersion& version) {
    if (version.status == ImageStatus::active && !application.deleting) return;
    throw Error(ErrorCode::invalid_argument, "exporting version " + std::to_string(version.number) +
                                                 " not allowed: it is " +
                                                 std::string(to_text(version.status)));
}

}  // namespace

void forget_stale_exports(const Application& before, Application& application) {
    for (ApplicationVersion& version : application.versions) {
        const ApplicationVersion* const old = before.version(version.number);
        if (old == nullptr || exported(before, *old).to_json() == exported(application, version).to_json())
            continue;
        version.exports.clear();
    }
}

ApplicationExport ApplicationExports::export_version(std::string_view id_or_name, int number,
                                                     Compression compression) {
    const std::string id = applications_.get(id_or_name)->id.str();
    auto hold = std::make_unique<LayerHold>(content_);
    hold->add(version_of(*applications_.get(id), number).layers());
    const auto application = applications_.get(id);  // read again, now that the layers stay
    const ApplicationVersion& version = version_of(*application, number);
    check_exportable(*application, version);
    MeasuredArchive made =
        measured(*application, version, export_request(*application, version, compression));
    ApplicationExport result;
    result.fingerprint = made.digest.fingerprint;
    result.size = made.digest.size;
    result.file_name = application->name + "-" + std::to_string(number) +
                       (compression == Compression::zstd ? ".tar.zst" : ".tar.gz");
    result.manifest_sha256 = sha256_hex(records_.manifest(id, number));
    result.archive = held_archive(std::move(hold), std::move(made.archive));
    log::info(
        "application version exported",
        {{"application", id}, {"version", std::to_string(number)}, {"fingerprint", result.fingerprint}});
    return result;
}

// The digest goes ahead of the archive. Where it is not known of archives in this format, the archive is made
// first, and its digest stored unless the metadata has changed meanwhile.
MeasuredArchive ApplicationExports::measured(const Application& application,
                                             const ApplicationVersion& version,
                                             const ExportRequest& request) {
    auto archive = content_.layers().export_archive(request);
    const std::string compression(to_text(request.compression));
    const auto known = version.exports.find(compression);
    if (known != version.exports.end() && known->second.format == archive->format())
        return {known->second, std::move(archive)};
    MeasuredArchive made = measure_archive(std::move(archive), request, content_);
    if (made.digest.format.empty()) return made;  // of no other archive
    applications_.update(application.id.str(), [&](Application& record) {
        ApplicationVersion* const now = record.version(version.number);
        if (now == nullptr || export_request(record, *now, request.compression).metadata != request.metadata)
            return;
        now->exports[compression] = made.digest;
    });
    return made;
}

}  // namespace svc
