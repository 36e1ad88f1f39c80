#pragma once
// Requests that make applications and versions: a package or a PATCH (specification: Applications;
// docs/applications.md, Operations).
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/services/applications/application_operation.h"
#include "libsvc/services/applications/application_package.h"
#include "libsvc/services/applications/application_records.h"
#include "libsvc/services/applications/application_removal.h"
#include "libsvc/services/applications/bootstraps.h"
#include "libsvc/services/applications/version_foundation.h"
#include "libsvc/services/applications/version_maker.h"
#include "libsvc/services/common/layer_hold.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/configuration/config_service.h"

namespace svc {

struct ApplicationChangesParts {
    Applications& applications;
    const ApplicationRecords& records;
    const VersionFoundations& foundations;
    const VersionMaker& versions;
    const ApkReader& apks;
    Bootstraps& bootstraps;
    ApplicationRemoval& removal;
    const ConfigService& config;  // application.max_pool_size
    Content& content;
    Engine& engine;
    Clock& clock;
    IdSource& ids;
};

// Thread-safe. Registers "application.create", "application.update", "application.patch". The record is
// changed with the start of the operation; the operation starts the bootstrap of the new version.
class ApplicationChanges {
  public:
    // Changes the record for an operation that starts with it; throws to refuse. May be called again.
    using Edit = std::function<ApplicationTarget(Application&)>;

    explicit ApplicationChanges(ApplicationChangesParts parts);
    ApplicationChanges(const ApplicationChanges&) = delete;
    ApplicationChanges& operator=(const ApplicationChanges&) = delete;

    // `fingerprint`: of the request's header, "" when not given. Package checks (manifest, image 404, addons
    // 404, ABI, name free 409) come before the operation.
    Started create(UploadedPackage package, std::string_view fingerprint, std::string requestor);
    Started update(std::string_view id_or_name, UploadedPackage package, std::string_view fingerprint,
                   const std::string& requestor, const Precondition& unchanged = {});
    // Makes one version at most, whatever the request changes.
    Started patch(std::string_view id_or_name, const ApplicationPatch& patch, const std::string& requestor,
                  const Precondition& unchanged = {});
    // Starts an operation of `kind` together with the edit of the record; `hold` gets the layers of the new
    // version. `addressed` as the request named the application.
    Started start(std::string kind, std::string_view addressed, const std::string& id, const Edit& edit,
                  const std::string& requestor, LayerHold& hold);

  private:
    Application new_application(const ApplicationManifest& manifest) const;
    Started start_create(const Application& application, const ApplicationTarget& target,
                         UploadedPackage package, std::string requestor);
    ApplicationTarget take_package(Application& application, const ApplicationPackage& package,
                                   const BlobInfo& blob) const;
    ApplicationTarget take_patch(Application& application, const ApplicationPatch& patch) const;
    OperationResult run(const Operation& operation);
    OperationResult undo_update(const Operation& operation);
    OperationResult undo_create(const Operation& operation);

    ApplicationChangesParts parts_;
};

}  // namespace svc
