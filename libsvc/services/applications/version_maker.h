#pragma once
// Adds a version to the record of an application; the bootstrap of that version is started elsewhere.
#include <cstdint>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/services/applications/application_operation.h"
#include "libsvc/services/applications/version_foundation.h"

namespace svc {

// Thread-safe; changes only the record that it is given.
class VersionMaker {
  public:
    VersionMaker(const Clock& clock, IdSource& ids) : clock_(clock), ids_(ids) {}

    // A version on `foundation`, still without the application's own package.
    ApplicationVersion& add(Application& application, const VersionFoundation& foundation,
                            ApplicationManifest manifest) const;
    static void set_package(ApplicationVersion& version, const std::string& name,
                            const std::string& fingerprint, std::uint64_t size,
                            const std::vector<std::string>& hooks);
    // A version with the package of the newest one, on another foundation or with another manifest.
    ApplicationTarget repeat(Application& application, const VersionFoundation& foundation,
                             ApplicationManifest manifest) const;
    // The target of the operation that makes this version, with a new id for the bootstrap.
    ApplicationTarget target(const Application& application, const ApplicationVersion& version) const;

  private:
    const Clock& clock_;
    IdSource& ids_;
};

}  // namespace svc
