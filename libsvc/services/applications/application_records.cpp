// What the parts of ApplicationService ask of records.
#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_implementation.h"

namespace svc {

LayerHold::~LayerHold() {
    try {
        if (!layers_.empty()) content_.drop_layers(layers_);
    } catch (const std::exception& e) {
        log::warning("layers cannot be let go", {{"error", e.what()}});
    }
}

void LayerHold::add(const std::vector<std::string>& layers) {
    content_.hold_layers(layers);
    layers_.insert(layers_.end(), layers.begin(), layers.end());
}

void throw_deleting() {
    throw Error(ErrorCode::busy, "deletion already in progress");
}

void throw_not_allowed(std::string_view what) {
    throw Error(ErrorCode::forbidden, std::string(what) + " not allowed");
}

std::string layer_name(const std::string& application, int version) {
    return "app-" + application + "-" + std::to_string(version);
}

std::string version_claim(const std::string& application, int version) {
    return "applications/" + application + "/versions/" + std::to_string(version);
}

std::string update_claim(const std::string& application, int version) {
    return "applications/" + application + "/updates/" + std::to_string(version);
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

}  // namespace svc
