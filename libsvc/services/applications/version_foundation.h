#pragma once
// What a version of an application is made on: the newest version of its image and of each of its addons.
#include <cstdint>
#include <string>
#include <vector>

#include "libsvc/model/packages/application.h"
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/applications/application_package.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/images/image_service.h"

namespace svc {

struct VersionFoundation : ParentImage {
    std::vector<PackageRef> addons;
    std::vector<std::string> abi_support;  // ABIs that the addons add
    std::uint64_t root_bytes = 0;          // size of the image's root file system; 0: the image is gone
};

VersionFoundation foundation_of(const ApplicationVersion& version);
// Whether `foundation` has another image, or a newer version of the image or of an addon.
bool is_behind(const ApplicationVersion& version, const VersionFoundation& foundation);

// Thread-safe; reads images, addons and the configuration, changes only the record that it is given.
class VersionFoundations {
  public:
    // `architecture`: of the cluster.
    VersionFoundations(const ImageService& images, const AddonService& addons, const ConfigService& config,
                       std::string architecture);

    // If the image is gone and `image_required` is false, the image layer that the newest version still holds
    // is used. Throws not_found "image not found", "addon not found".
    VersionFoundation newest(const Application& application, bool image_required) const;
    // Sets the image by name or id, "" for the default image. Throws not_found; invalid_argument when the
    // image has no active version.
    void choose_image(Application& application, const std::string& reference) const;
    bool image_is_gone(const Application& application) const;
    void check_addons(const std::vector<std::string>& addons) const;  // throws not_found "addon not found"
    // The addons of application.addons, then its own; each once.
    std::vector<std::string> wanted_addons(const Application& application) const;
    // Sets the ABI that the manifest, else the native code of app.apk, else application.default_abi, else the
    // architecture says. Throws invalid_argument when neither the machines nor the addons run it.
    void choose_abi(Application& application, const ApplicationPackage& package,
                    const VersionFoundation& foundation) const;
    // Whether a new version of the image or of an addon makes a new version of the application without a
    // request: application.auto_update, and nothing in the record forbids it.
    bool may_update_itself(const Application& application) const;

  private:
    // "": nothing says one.
    std::string wanted_abi(const ApplicationPackage& package, const std::string& architecture,
                           const VersionFoundation& foundation) const;
    void add_addons(const Application& application, VersionFoundation& foundation) const;

    const ImageService& images_;
    const AddonService& addons_;
    const ConfigService& config_;
    const std::string architecture_;
};

}  // namespace svc
