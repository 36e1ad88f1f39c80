// The stored form of an application.
#include <algorithm>
#include <array>

#include "libsvc/base/error.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/model/packages/application.h"
#include "libsvc/model/packages/manifest_rules.h"

namespace svc {

namespace {

using rules::strings_json;
using Strings = std::vector<std::string>;

// Schema 7: a pool, which an earlier program would drop; applications without one stay what they are.
constexpr int application_schema = 1;
constexpr int pooled_schema = 7;

constexpr std::array<ImageStatus, 8> version_statuses{
    ImageStatus::error,  ImageStatus::unknown, ImageStatus::initializing, ImageStatus::created,
    ImageStatus::active, ImageStatus::deleted, ImageStatus::available,    ImageStatus::queued};

ImageStatus status_of(const std::string& text) {
    const auto found = std::find_if(version_statuses.begin(), version_statuses.end(),
                                    [&](ImageStatus status) { return to_text(status) == text; });
    return found == version_statuses.end() ? ImageStatus::unknown : *found;
}

std::uint64_t bytes_at(const JsonFields& fields, std::string_view key) {
    return static_cast<std::uint64_t>(fields.integer(key).value_or(0));
}

int number_at(const JsonFields& fields, std::string_view key) {
    return static_cast<int>(fields.integer(key).value_or(0));
}

std::string text_at(const JsonFields& fields, std::string_view key) {
    return fields.string(key).value_or("");
}

Strings list_at(const JsonFields& fields, std::string_view key) {
    return fields.strings(key).value_or(Strings());
}

bool flag_at(const JsonFields& fields, std::string_view key) {
    return fields.boolean(key).value_or(false);
}

Json readiness_to_store(const ReadinessCheck& ready) {
    return Json::object({{"file", ready.file}, {"command", ready.command}, {"port", int{ready.port}}});
}

ReadinessCheck readiness_from_store(const JsonFields& fields) {
    return {text_at(fields, "file"), text_at(fields, "command"),
            static_cast<std::uint16_t>(number_at(fields, "port"))};
}

Json addons_to_store(const std::vector<PackageRef>& packages) {
    JsonArray result;
    for (const PackageRef& package : packages) result.push_back(package.to_json());
    return Json::array(std::move(result));
}

// Versions before had `export_fingerprint` and `export_size`: of an archive of other bytes, as it was
// compressed in one piece. They are not read.
Json exports_to_store(const std::map<std::string, ExportDigest>& exports) {
    Json result = Json::object();
    for (const auto& [compression, digest] : exports)
        result.set(compression, Json::object({{"format", digest.format},
                                              {"fingerprint", digest.fingerprint},
                                              {"size", digest.size}}));
    return result;
}

std::map<std::string, ExportDigest> exports_from_store(const Json& exports) {
    std::map<std::string, ExportDigest> result;
    for (const auto& [compression, digest] : exports.as_object()) {
        const JsonFields fields(digest);
        result[compression] = {text_at(fields, "format"), text_at(fields, "fingerprint"),
                               bytes_at(fields, "size")};
    }
    return result;
}

std::vector<PackageRef> addons_from_store(const JsonFields& fields) {
    std::vector<PackageRef> result;
    for (const JsonFields& package : fields.objects("packages").value_or(std::vector<JsonFields>()))
        result.push_back(PackageRef::from_json(package.value()));
    return result;
}

Json version_to_store(const ApplicationVersion& version) {
    return Json::object({
        {"number", version.number},
        {"status", to_text(version.status)},
        {"published", version.published},
        {"created_at", to_rfc3339(version.created_at)},
        {"parent_image_id", version.parent_image_id},
        {"parent_image_version", version.parent_image_version},
        {"error_message", version.error_message},
        {"manifest", version.manifest.to_document()},
        {"packages", addons_to_store(version.packages)},
        {"notes", strings_json(version.notes)},
        {"package", version.package},
        {"package_size", version.package_size},
        {"parent_layer", version.parent_layer},
        {"layer", version.layer},
        {"architecture", *version.architecture},
        {"init", *version.init},
        {"image_variant", *version.image_variant},
        {"android", version.android},
        {"ready", readiness_to_store(*version.ready)},
        {"base_instance", version.base_instance},
        {"layer_size", version.layer_size},
        {"exports", exports_to_store(version.exports)},
    });
}

void read_content(const JsonFields& fields, ApplicationVersion& version) {
    version.package = text_at(fields, "package");
    version.package_size = bytes_at(fields, "package_size");
    version.parent_layer = text_at(fields, "parent_layer");
    version.layer = text_at(fields, "layer");
    version.architecture = text_at(fields, "architecture");
    version.init = text_at(fields, "init");
    version.image_variant = text_at(fields, "image_variant");
    version.android = flag_at(fields, "android");
    if (const auto ready = fields.object("ready")) version.ready = readiness_from_store(*ready);
    version.base_instance = text_at(fields, "base_instance");
    version.layer_size = bytes_at(fields, "layer_size");
    if (const auto exports = fields.raw("exports")) version.exports = exports_from_store(*exports);
}

ApplicationVersion application_version_from_store(const JsonFields& fields) {
    ApplicationVersion version;
    version.number = static_cast<int>(fields.require_int("number"));
    version.status = status_of(fields.require_string("status"));
    version.published = flag_at(fields, "published");
    version.created_at = from_rfc3339(fields.require_string("created_at"));
    version.parent_image_id = text_at(fields, "parent_image_id");
    version.parent_image_version = number_at(fields, "parent_image_version");
    version.error_message = clipped(text_at(fields, "error_message"), max_error_bytes);
    if (const Json* const manifest = fields.raw("manifest"))
        version.manifest = ApplicationManifest::parse(*manifest);
    version.packages = addons_from_store(fields);
    version.notes = joined_notes({}, list_at(fields, "notes"));
    read_content(fields, version);
    return version;
}

void read_settings(const JsonFields& fields, Application& application) {
    application.image = text_at(fields, "image");
    application.parent_image_id = text_at(fields, "parent_image_id");
    application.instance_type = text_at(fields, "instance_type");
    application.tags = list_at(fields, "tags");
    application.addons = list_at(fields, "addons");
    if (const Json* const resources = fields.raw("resources"))
        application.resources = ResourceOverrides::from_json(*resources);
    application.node_selector = list_at(fields, "node_selector");
    application.abi = text_at(fields, "abi");
    if (const auto pool = fields.object("pool")) application.pool = PoolSettings::from_json(*pool);
}

}  // namespace

Json application_to_store(const Application& application) {
    JsonArray versions;
    for (const ApplicationVersion& version : application.versions)
        versions.push_back(version_to_store(version));
    return Json::object({
        {"schema", application.pool.empty() ? application_schema : pooled_schema},
        {"id", application.id.str()},
        {"name", application.name},
        {"versions", std::move(versions)},
        {"next_version", application.next_version},
        {"created_at", to_rfc3339(application.created_at)},
        {"immutable", application.immutable},
        {"deleting", application.deleting},
        {"inhibit_auto_updates", application.inhibit_auto_updates},
        {"pending_update", application.pending_update},
        {"image", application.image},
        {"parent_image_id", application.parent_image_id},
        {"instance_type", application.instance_type},
        {"tags", strings_json(application.tags)},
        {"addons", strings_json(application.addons)},
        {"resources", application.resources.to_json()},
        {"node_selector", strings_json(application.node_selector)},
        {"abi", application.abi},
        {"pool", application.pool.to_json()},
    });
}

Application application_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Application application;
    application.id = ApplicationId(fields.require_string("id"));
    application.name = fields.require_string("name");
    for (const JsonFields& version : fields.objects("versions").value_or(std::vector<JsonFields>()))
        application.versions.push_back(application_version_from_store(version));
    application.next_version = static_cast<int>(fields.require_int("next_version"));
    application.created_at = from_rfc3339(fields.require_string("created_at"));
    application.immutable = flag_at(fields, "immutable");
    application.deleting = flag_at(fields, "deleting");
    application.inhibit_auto_updates = flag_at(fields, "inhibit_auto_updates");
    application.pending_update = flag_at(fields, "pending_update");
    read_settings(fields, application);
    return application;
}

}  // namespace svc
