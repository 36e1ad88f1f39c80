#pragma once
// Rules of addons: import of packages, versions, deletion (specification: Addons).
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/model/packages/addon.h"
#include "libsvc/model/packages/application.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/addons/addon_operations.h"
#include "libsvc/services/addons/addon_use.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/common/records.h"

namespace svc {

struct AddonServiceParts {
    Addons& addons;
    const Applications& applications;  // for used_by
    const Instances& instances;        // some still fetch a package
    const ConfigRecords& config;       // application.addons
    Content& content;
    Engine& engine;
    Clock& clock;
};

// Thread-safe. Validates requests and starts the operations that AddonOperations runs.
class AddonService {
  public:
    explicit AddonService(AddonServiceParts parts);
    AddonService(const AddonService&) = delete;
    AddonService& operator=(const AddonService&) = delete;

    // Cheap checks before a body is read.
    void check_create(const AddonRequest& request) const;
    std::shared_ptr<const Addon> check_update(std::string_view name) const;
    // Both validate the whole package synchronously (bzip2 tarball, manifest, at least one valid hook, each
    // executable) and commit record and operation together. The operation only calls the listener.
    Started create(const AddonRequest& request, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor);
    Started update(std::string_view name, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor, const Precondition& unchanged = {});
    // Refused: unknown (404), in use by an application, by application.addons or by an instance that still
    // fetches it (409 "addon is in use").
    Started remove(std::string_view name, std::string requestor);
    // Refused like remove(); also the last version (400 "deleting the last version of an addon not allowed").
    Started remove_version(std::string_view name, int version, std::string requestor);

    std::shared_ptr<const Addon> get(std::string_view name) const { return parts_.addons.get(name); }
    std::vector<std::shared_ptr<const Addon>> list() const { return parts_.addons.list(); }
    Json describe(const Addon& addon) const;  // the API's record with used_by: names of applications
    std::string etag(const Addon& addon) const;
    // Called after a new version has become visible; any thread. Set once, before the engine starts.
    void on_new_version(std::function<void(const std::string& addon)> listener) {
        operations_.on_new_version(std::move(listener));
    }

  private:
    AddonVersion new_version(const UploadedPackage& package, std::string_view fingerprint) const;
    void check_version_may_go(const Addon& addon, int number) const;
    Started start_import(UploadedPackage package, const std::function<Started()>& start);

    AddonServiceParts parts_;
    AddonUse use_;
    AddonOperations operations_;
};

}  // namespace svc
