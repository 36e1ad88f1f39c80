#include "libsvc/services/applications/application_versions.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc {

void throw_deleting() {
    throw Error(ErrorCode::busy, "deletion already in progress");
}

void throw_not_allowed(std::string_view what) {
    throw Error(ErrorCode::forbidden, std::string(what) + " not allowed");
}

std::string layer_name(const std::string& application, int version) {
    return "app-" + application + "-" + std::to_string(version);
}

bool is_initializing(const Application& application) {
    return std::ranges::any_of(application.versions, [](const ApplicationVersion& version) {
        return version.status == ImageStatus::initializing;
    });
}

const ApplicationVersion& newest_of(const Application& application) {
    if (const ApplicationVersion* const newest = application.newest()) return *newest;
    throw Error(ErrorCode::internal, "application " + application.name + " has no version");
}

const ApplicationVersion& version_of(const Application& application, int number) {
    if (const ApplicationVersion* const version = application.version(number)) return *version;
    throw Error(ErrorCode::not_found, "application version not found");
}

const PackageRef* own_package(const ApplicationVersion& version) {
    const auto found = std::ranges::find_if(version.packages, &PackageRef::is_application);
    return found == version.packages.end() ? nullptr : &*found;
}

std::vector<const PackageRef*> addons_of(const ApplicationVersion& version) {
    std::vector<const PackageRef*> addons;
    for (const PackageRef& package : version.packages)
        if (!package.is_application) addons.push_back(&package);
    return addons;
}

ContentReferences content_of(const Application& application, const ApplicationVersion& version) {
    ContentReferences content;
    const bool initializing = version.status == ImageStatus::initializing;
    if (version.package.empty()) {
        // An imported version. Until it is unpacked, its archive is a blob with the name of the layer.
        if (initializing) content.blobs.insert(version.layer);
    } else {
        content.blobs.insert(version.package);
        content.layers.insert(layer_name(application.id.str(), version.number));
        if (initializing)
            for (const PackageRef& package : version.packages) content.blobs.insert(package.fingerprint);
    }
    for (const std::string& layer : version.layers()) content.layers.insert(layer);
    return content;
}

}  // namespace svc
