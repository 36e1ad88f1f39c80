#include "libsvc/services/applications/version_foundation.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/applications/application_versions.h"

namespace svc {

VersionFoundation foundation_of(const ApplicationVersion& version) {
    VersionFoundation foundation{version, {}, {}};
    for (const PackageRef* const addon : addons_of(version)) foundation.addons.push_back(*addon);
    return foundation;
}

bool is_behind(const ApplicationVersion& version, const VersionFoundation& foundation) {
    if (foundation.parent_image_id != version.parent_image_id ||
        foundation.parent_image_version > version.parent_image_version)
        return true;
    const auto used = addons_of(version);
    return !std::ranges::equal(used, foundation.addons, [](const PackageRef* one, const PackageRef& now) {
        return one->name == now.name && one->version >= now.version;
    });
}

VersionFoundations::VersionFoundations(const ImageService& images, const AddonService& addons,
                                       const ConfigService& config, std::string architecture)
    : images_(images), addons_(addons), config_(config), architecture_(std::move(architecture)) {}

VersionFoundation VersionFoundations::newest(const Application& application, bool image_required) const {
    VersionFoundation foundation;
    const auto images = images_.list();
    const auto image = std::ranges::find_if(
        images, [&](const auto& candidate) { return candidate->id.str() == application.parent_image_id; });
    const ImageVersion* const version =
        image == images.end() || (*image)->deleting ? nullptr : (*image)->newest_active();
    if (version != nullptr) {
        foundation = {{{version->metadata}, application.parent_image_id, version->version, version->layer()},
                      {},
                      {},
                      version->root_size};
    } else if (image_required || application.newest() == nullptr) {
        throw Error(ErrorCode::not_found, "image not found");
    } else {
        foundation = foundation_of(newest_of(application));
        foundation.addons.clear();
    }
    add_addons(application, foundation);
    return foundation;
}

void VersionFoundations::choose_image(Application& application, const std::string& reference) const {
    const auto image = reference.empty() ? images_.default_image() : images_.get(reference);
    if (!image) throw Error(ErrorCode::not_found, "image not found");
    if (image->deleting || image->newest_active() == nullptr)
        throw Error(ErrorCode::invalid_argument, "image " + image->name + " is not active");
    application.image = reference;
    application.parent_image_id = image->id.str();
}

void VersionFoundations::check_addons(const std::vector<std::string>& addons) const {
    for (const std::string& name : addons) {
        const auto addon = addons_.get(name);
        if (addon->deleting || addon->newest() == nullptr)
            throw Error(ErrorCode::not_found, "addon not found");
    }
}

std::string VersionFoundations::wanted_abi(const ApplicationPackage& package, const std::string& architecture,
                                           const VersionFoundation& foundation) const {
    if (!package.manifest.abi.empty()) return package.manifest.abi;
    const std::string configured = config_.text("application.default_abi");
    if (package.apk_abis.empty()) return configured;
    const auto among = [&](const std::string& abi) { return std::ranges::count(package.apk_abis, abi) > 0; };
    if (among(configured) && runs_abi(architecture, foundation.abi_support, configured)) return configured;
    if (const std::string machine = native_abi(architecture); among(machine)) return machine;
    for (const auto& support : {std::vector<std::string>(), foundation.abi_support})
        for (const std::string& abi : package.apk_abis)
            if (is_abi(abi) && runs_abi(architecture, support, abi)) return abi;
    return {};  // an image may translate it, which nothing says
}

void VersionFoundations::choose_abi(Application& application, const ApplicationPackage& package,
                                    const VersionFoundation& foundation) const {
    const std::string& architecture =
        foundation.architecture.empty() ? architecture_ : *foundation.architecture;
    const std::string wanted = wanted_abi(package, architecture, foundation);
    if (!wanted.empty() && !runs_abi(architecture, foundation.abi_support, wanted))
        throw Error(ErrorCode::invalid_argument, "abi " + wanted + " not supported: machines are " +
                                                     architecture + " and no addon provides it");
    application.abi = wanted.empty() ? native_abi(architecture) : wanted;
}

bool VersionFoundations::image_is_gone(const Application& application) const {
    const auto images = images_.list();
    return std::ranges::none_of(
        images, [&](const auto& image) { return image->id.str() == application.parent_image_id; });
}

std::vector<std::string> VersionFoundations::wanted_addons(const Application& application) const {
    std::vector<std::string> names;
    const auto add = [&names](const std::vector<std::string>& more) {
        for (const std::string& name : more)
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    add(config_.values().list("application.addons"));
    add(application.addons);
    return names;
}

void VersionFoundations::add_addons(const Application& application, VersionFoundation& foundation) const {
    for (const std::string& name : wanted_addons(application)) {
        const auto addon = addons_.get(name);
        const AddonVersion* const version = addon->newest();
        if (addon->deleting || version == nullptr) throw Error(ErrorCode::not_found, "addon not found");
        foundation.addons.push_back(addon->package(*version, false));
        foundation.abi_support.insert(foundation.abi_support.end(), version->abi_support.begin(),
                                      version->abi_support.end());
    }
}

bool VersionFoundations::may_update_itself(const Application& application) const {
    return !application.inhibit_auto_updates && !application.immutable && !application.deleting &&
           config_.boolean("application.auto_update");
}

}  // namespace svc
