#include "libsvc/services/applications/application_records.h"

#include "libsvc/base/digest.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/services/applications/application_versions.h"

namespace svc {

namespace {

// What a PATCH changes without a version: a version's own manifest does not have it.
void take_present_settings(ApplicationManifest& manifest, const Application& application) {
    manifest.instance_type = application.instance_type;
    manifest.abi = application.abi;
    manifest.tags = application.tags;
    manifest.addons = application.addons;
    manifest.resources = application.resources;
    manifest.node_selector = application.node_selector;
}

}  // namespace

ApplicationRecords::Ptr ApplicationRecords::get(std::string_view id_or_name) const {
    return applications_.get(id_or_name);
}

ApplicationRecords::Ptr ApplicationRecords::check_update(std::string_view id_or_name) const {
    Ptr application = applications_.get(id_or_name);
    if (application->deleting) throw_deleting();
    if (application->immutable) throw_not_allowed("updating immutable application");
    return application;
}

std::string ApplicationRecords::etag(const Application& application) const {
    return sha256_hex(etag_text(application));
}

std::string ApplicationRecords::manifest(std::string_view id_or_name, std::optional<int> version) const {
    const Ptr application = applications_.get(id_or_name);
    const ApplicationVersion& wanted = version ? version_of(*application, *version) : newest_of(*application);
    ApplicationManifest manifest = wanted.manifest;
    manifest.name = application->name;
    if (manifest.abi.empty()) manifest.abi = application->abi;
    if (manifest.instance_type.empty()) manifest.instance_type = default_instance_type;
    if (!version) take_present_settings(manifest, *application);
    for (const auto& image : images_.list())
        if (image->id.str() == wanted.parent_image_id) manifest.image = image->name;
    return to_yaml(manifest.to_document());
}

}  // namespace svc
