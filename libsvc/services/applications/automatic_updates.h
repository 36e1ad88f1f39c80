#pragma once
// New versions of applications that nobody asked for: their image or an addon has a new version
// (docs/applications.md, Updates).
#include <functional>
#include <string>

#include "libsvc/services/applications/application_changes.h"
#include "libsvc/services/applications/application_jobs.h"
#include "libsvc/services/applications/version_foundation.h"
#include "libsvc/services/applications/version_maker.h"

namespace svc {

struct AutomaticUpdatesParts {
    Applications& applications;
    const VersionFoundations& foundations;
    const VersionMaker& versions;
    ApplicationChanges& changes;
    Content& content;
    ApplicationJobs& jobs;
};

// Thread-safe. The three triggers return at once and throw nothing; the work is a job. An application whose
// newest version is still being made is marked and updated when that has ended.
class AutomaticUpdates {
  public:
    explicit AutomaticUpdates(AutomaticUpdatesParts parts) : parts_(parts) {}

    void image_changed(const std::string& image_id);  // the image has a new active version
    void addon_changed(const std::string& addon);     // the addon has a new version
    void global_addons_changed();  // application.addons or application.auto_update has changed
    // A bootstrap of the application has ended: makes the update that waited for it, if there is one.
    void take_up_pending(const std::string& id);

  private:
    void update_where(const std::function<bool(const Application&)>& depends);
    void update_if_behind(const std::string& id);
    bool try_update_if_behind(const std::string& id);
    ApplicationTarget take_newest(Application& application) const;

    AutomaticUpdatesParts parts_;
};

}  // namespace svc
