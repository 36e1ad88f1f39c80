#pragma once
// Compares the sessions of a region with the instances that the region has.
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/streaming/sessions/instance_observer.h"
#include "libsvc/streaming/sessions/instance_remover.h"
#include "libsvc/streaming/sessions/session_instance_launcher.h"

namespace svc {

// Thread-safe. Instances that carry the tag of an unknown session are left alone: another gateway may have
// launched them.
class RegionComparison {
  public:
    struct Parts {
        SessionRecords& records;
        SessionStates& states;
        SessionWork& work;
        SessionInstanceLauncher& launcher;
        InstanceObserver& observer;
        InstanceRemover& remover;
        Regions& regions;
        std::stop_token stopping;
    };
    explicit RegionComparison(Parts parts) : parts_(std::move(parts)) {}

    void schedule(const std::string& region);  // on a thread of the region
    void retry_failed();                       // regions whose instances could not be listed

  private:
    void compare(const std::string& region);
    std::map<std::string, std::vector<StreamInstance>> instances_of(const std::string& region);  // by session
    void reconcile(const StreamSession& session, const std::vector<StreamInstance>& found);

    const Parts parts_;
    Guarded<std::set<std::string>> failed_;  // regions
};

}  // namespace svc
