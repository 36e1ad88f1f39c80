#include "libsvc/model/packages/application.h"

#include <algorithm>
#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/model/packages/manifest_rules.h"

namespace svc {

namespace {

using rules::strings_json;
using rules::strings_or_null;

constexpr std::array<EnumName<ApplicationStatus>, 5> application_status_names{
    {{ApplicationStatus::error, "error"},
     {ApplicationStatus::unknown, "unknown"},
     {ApplicationStatus::initializing, "initializing"},
     {ApplicationStatus::ready, "ready"},
     {ApplicationStatus::deleted, "deleted"}}};

std::string_view effective_type(const Application& application) {
    return application.instance_type.empty() ? default_instance_type
                                             : std::string_view(application.instance_type);
}

// The addons of a version, with the version of each that was used.
Json addons_json(const std::vector<PackageRef>& packages) {
    JsonArray addons;
    for (const PackageRef& package : packages)
        if (!package.is_application)
            addons.push_back(Json::object({{"name", package.name}, {"version", package.version}}));
    return Json::array(std::move(addons));
}

// Extensions: left out when empty.
void add_extensions(Json& record, const ApplicationVersion& version) {
    const ApplicationManifest& manifest = version.manifest;
    if (!manifest.boot.empty()) record.set("boot", manifest.boot);
    if (!manifest.services.empty()) record.set("services", rules::services_json(manifest.services));
    if (!manifest.features.empty()) record.set("features", strings_json(manifest.features));
    if (!manifest.hook_timeout.empty())
        record.set("hooks", Json::object({{"timeout", manifest.hook_timeout}}));
    if (!manifest.keep.empty())
        record.set("bootstrap", Json::object({{"keep", strings_json(manifest.keep)}}));
    if (!version.notes.empty()) record.set("notes", strings_json(version.notes));
}

Json version_to_json(const ApplicationVersion& version) {
    Json record = Json::object({
        {"number", version.number},
        {"manifest_version", version.manifest.version},
        {"parent_image_id", version.parent_image_id},
        {"parent_image_version", version.parent_image_version},
        {"status_code", static_cast<int>(version.status)},
        {"status", to_text(version.status)},
        {"published", version.published},
        {"created_at", to_unix_seconds(version.created_at)},
        {"boot_activity", version.manifest.boot_activity},
        {"required_permissions", strings_or_null(version.manifest.required_permissions)},
        {"addons", addons_json(version.packages)},
        {"extra_data", rules::extra_data_json(version.manifest.extra_data)},
        {"error_message", version.error_message},
        {"video_encoder", to_text(version.manifest.video_encoder)},
        {"watchdog", version.manifest.watchdog.to_json()},
    });
    add_extensions(record, version);
    return record;
}

template <class Versions>
auto* application_version_of(Versions& versions, int number) {
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [number](const ApplicationVersion& v) { return v.number == number; });
    return found == versions.end() ? nullptr : &*found;
}

template <class Test>
const ApplicationVersion* newest_with(const std::vector<ApplicationVersion>& versions, Test test) {
    const auto found = std::find_if(versions.rbegin(), versions.rend(), test);
    return found == versions.rend() ? nullptr : &*found;
}

}  // namespace

std::string_view to_text(ApplicationStatus status) {
    return enum_text<ApplicationStatus>(application_status_names, status);
}

std::vector<std::string> ApplicationVersion::layers() const {
    std::vector<std::string> result;
    if (!parent_layer.empty()) result.push_back(parent_layer);
    if (!layer.empty()) result.push_back(layer);
    return result;
}

ApplicationStatus Application::status() const {
    if (deleting) return ApplicationStatus::deleted;
    const ApplicationVersion* const last = newest();
    switch (last == nullptr ? ImageStatus::unknown : last->status) {
        case ImageStatus::error:
            return ApplicationStatus::error;
        case ImageStatus::active:
            return ApplicationStatus::ready;
        case ImageStatus::initializing:
        case ImageStatus::created:
        case ImageStatus::available:
        case ImageStatus::queued:
            return ApplicationStatus::initializing;
        case ImageStatus::unknown:
        case ImageStatus::deleted:
            break;
    }
    return ApplicationStatus::unknown;
}

bool Application::published() const {
    return std::any_of(versions.begin(), versions.end(), [](const auto& v) { return v.published; });
}

const ApplicationVersion* Application::version(int number) const {
    return application_version_of(versions, number);
}

ApplicationVersion* Application::version(int number) {
    return application_version_of(versions, number);
}

const ApplicationVersion* Application::newest() const {
    return newest_with(versions, [](const auto& v) { return v.status != ImageStatus::deleted; });
}

const ApplicationVersion* Application::newest_published() const {
    return newest_with(versions,
                       [](const auto& v) { return v.published && v.status == ImageStatus::active; });
}

InstanceResources Application::effective_resources() const {
    return resources.over(instance_type_resources(effective_type(*this)).value_or(InstanceResources()));
}

Json to_json(const Application& application) {
    const ApplicationVersion* const newest = application.newest();
    JsonArray versions;
    for (const ApplicationVersion& version : application.versions)
        versions.push_back(version_to_json(version));
    Json record = Json::object({
        {"id", application.id.str()},
        {"name", application.name},
        {"status_code", static_cast<int>(application.status())},
        {"status", to_text(application.status())},
        {"instance_type", effective_type(application)},
        {"boot_package", newest == nullptr ? std::string() : newest->manifest.boot_package},
        {"parent_image_id", application.parent_image_id},
        {"published", application.published()},
        {"versions", std::move(versions)},
        {"addons", strings_json(application.addons)},
        {"created_at", to_unix_seconds(application.created_at)},
        {"immutable", application.immutable},
        {"tags", strings_or_null(application.tags)},
        {"resources", application.resources.to_json()},
        {"abi", application.abi},
        {"inhibit_auto_updates", application.inhibit_auto_updates},
    });
    if (!application.pool.empty()) record.set("pool", application.pool.to_json());
    if (!application.node_selector.empty())
        record.set("node_selector", strings_json(application.node_selector));
    return record;
}

std::string etag_text(const Application& application) {
    const ApplicationVersion* const newest = application.newest();
    return Json::object({{"parent_image_id", application.parent_image_id},
                         {"instance_type", effective_type(application)},
                         {"tags", strings_or_null(application.tags)},
                         {"addons", strings_json(application.addons)},
                         {"resources", application.resources.to_json()},
                         {"inhibit_auto_updates", application.inhibit_auto_updates},
                         {"pool", application.pool.to_json()},
                         {"number", newest == nullptr ? Json() : Json(newest->number)}})
        .dump();
}

}  // namespace svc
