#pragma once
// Which versions are offered to launches and to a registry, and how many of them are kept
// (docs/applications.md, Publication).
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/services/applications/application_jobs.h"
#include "libsvc/services/applications/application_records.h"
#include "libsvc/services/applications/application_removal.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

struct ApplicationPublicationParts {
    Applications& applications;
    const ApplicationRecords& records;
    const InstanceService& instances;  // versions that an instance uses are kept
    const ConfigService& config;       // application.max_published_versions
    ApplicationRemoval& removal;
    Engine& engine;
    ApplicationJobs& jobs;
};

// Thread-safe. Registers "application.publish".
class ApplicationPublication {
  public:
    explicit ApplicationPublication(ApplicationPublicationParts parts);
    ApplicationPublication(const ApplicationPublication&) = delete;
    ApplicationPublication& operator=(const ApplicationPublication&) = delete;

    // Only active versions; throws invalid_argument for others, and what check_update() throws.
    Started publish(std::string_view id_or_name, int version, bool published, const std::string& requestor);
    // Starts the deletion of the lowest published versions beyond the limit that no instance uses. To be
    // called when the limit has changed and when an instance of a version is gone. Returns at once.
    void enforce_limits();
    void version_active(const std::string& id);  // a version has become active, and perhaps published
    // Called with the application's id after one of its versions may have become published; any thread. Set
    // before the engine starts.
    void on_published(std::function<void(const std::string& id)> listener) {
        listener_ = std::move(listener);
    }
    void enforce_limit(const std::string& id);  // for one application; an error is logged

  private:
    OperationResult run(const Operation& operation);
    std::vector<int> surplus(const Application& application) const;
    bool is_used(const std::string& application, int version) const;

    ApplicationPublicationParts parts_;
    std::function<void(const std::string& id)> listener_;  // may be empty
};

}  // namespace svc
