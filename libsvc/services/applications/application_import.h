#pragma once
// Versions that another service has exported: a registry has them (docs/applications.md, Export and import).
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/services/applications/application_operation.h"
#include "libsvc/services/applications/application_publication.h"
#include "libsvc/services/applications/application_removal.h"
#include "libsvc/services/common/content.h"

namespace svc {

struct ImportedVersion {
    ExportedVersion version;
    std::string architecture;
    UploadedPackage archive;  // as export_version() made it
};

struct ApplicationImportsParts {
    Applications& applications;
    ApplicationPublication& publication;
    ApplicationRemoval& removal;
    Content& content;
    Engine& engine;
    Clock& clock;
    IdSource& ids;
    std::string architecture;  // of the cluster; versions for another one are refused
};

// Thread-safe. Registers "application.import".
class ApplicationImports {
  public:
    explicit ApplicationImports(ApplicationImportsParts parts);
    ApplicationImports(const ApplicationImports&) = delete;
    ApplicationImports& operator=(const ApplicationImports&) = delete;

    // Makes the application (immutable) or adds the version unless it is there. Returns when the work is
    // queued; the operation's result tells. Throws invalid_argument for another architecture; conflict when
    // the name belongs to an application that was not imported; busy while that version is being imported.
    Started import_version(ImportedVersion version, const std::string& requestor);
    // The imports of this application that have not ended.
    std::vector<Started> in_progress(std::string_view application_id) const;

  private:
    Application new_application(const ImportedVersion& imported) const;
    Started start(const std::string& id, int version, const std::string& requestor, Batch batch);
    Started start_import(const ImportedVersion& imported, const ApplicationVersion& version,
                         const std::string& requestor);
    OperationResult run(OperationContext& context);
    OperationResult finish(const ApplicationTarget& target, const std::string& layer);
    OperationResult undo(const Operation& operation);

    ApplicationImportsParts parts_;
};

}  // namespace svc
