#pragma once
// Applications: packages, versions and their bootstrap, publication, updates, export, deletion
// (specification: Applications; docs/applications.md). Each of these is an object of its own; this one builds
// and connects them.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/services/applications/application_changes.h"
#include "libsvc/services/applications/application_export.h"
#include "libsvc/services/applications/application_import.h"
#include "libsvc/services/applications/application_jobs.h"
#include "libsvc/services/applications/application_publication.h"
#include "libsvc/services/applications/application_records.h"
#include "libsvc/services/applications/application_removal.h"
#include "libsvc/services/applications/automatic_updates.h"
#include "libsvc/services/applications/bootstraps.h"

namespace svc {

struct ApplicationServiceParts {
    Applications& applications;
    AddonService& addons;
    ImageService& images;
    InstanceService& instances;
    ConfigService& config;
    Content& content;
    Engine& engine;
    Clock& clock;
    IdSource& ids;
    std::string architecture;          // of the cluster
    std::filesystem::path apk_parser;  // `aapt`, or what speaks as it does
    Duration bootstrap_limit = std::chrono::minutes(15);
    std::size_t bootstraps_at_once = 4;
};

// Thread-safe. Build it before Engine::recover(), stop the engine before it is destroyed. Operations that are
// interrupted continue after a restart from what the records say.
class ApplicationService {
  public:
    explicit ApplicationService(ApplicationServiceParts parts);
    ~ApplicationService();
    ApplicationService(const ApplicationService&) = delete;
    ApplicationService& operator=(const ApplicationService&) = delete;

    std::shared_ptr<const Application> get(std::string_view id_or_name) const {
        return records_.get(id_or_name);
    }
    std::vector<std::shared_ptr<const Application>> list() const { return records_.list(); }

    const ApplicationRecords& records() const { return records_; }
    ApplicationChanges& changes() { return changes_; }
    ApplicationRemoval& removal() { return removal_; }
    ApplicationPublication& publication() { return publication_; }
    AutomaticUpdates& updates() { return updates_; }
    ApplicationExports& exports() { return exports_; }
    ApplicationImports& imports() { return imports_; }

  private:
    ApplicationJobs jobs_;
    ApplicationRecords records_;
    ApkReader apks_;
    VersionFoundations foundations_;
    VersionMaker versions_;
    ApplicationRemoval removal_;
    ApplicationPublication publication_;
    Bootstraps bootstraps_;
    ApplicationChanges changes_;
    AutomaticUpdates updates_;
    ApplicationExports exports_;
    ApplicationImports imports_;
};

}  // namespace svc
