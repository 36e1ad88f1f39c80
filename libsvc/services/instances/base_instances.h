#pragma once
// Base containers: temporary containers in which a version of an application is made (docs/applications.md).
// They go through the same operations as all others; what differs is how they fail (only record and logs
// stay) and that nothing but their bootstrap stops them.
#include <functional>
#include <optional>
#include <string>

#include "libsvc/base/timer.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/instances/end/instance_deletions.h"
#include "libsvc/services/instances/launch/new_instances.h"

namespace svc {

// The request of an application's bootstrap for a base instance.
struct BaseLaunch : GuestDescription {  // all packages with `fetch`
    InstanceId id;  // chosen and stored by the caller before, so that asking again finds the same container
    std::string requestor;
};

// Thread-safe.
class BaseInstances {
  public:
    using Finished = std::function<void(const std::optional<Error>& failure)>;

    BaseInstances(Instances& instances, Content& content, const ConfigService& config, Engine& engine,
                  Timer& timer, NewInstances& launches, InstanceDeletions& deletions);
    // Creates the container and starts its launch, unless that was done before. `running` means that the
    // guest part of the bootstrap has succeeded. Base containers never expire, and are refused to
    // InstanceService::set_desired_status().
    void launch(const BaseLaunch& launch);
    // Stops the guest, runs its end hooks and clean-up, and calls `done` when the container is `stopped`, or
    // with the reason when it has become `error` (its record and logs stay, its disk goes). Any thread;
    // repeatable in every state: waits for a launch that still goes on, calls back at once when all is over.
    // Holds no thread.
    void finish(const InstanceId& id, Finished done);
    // Removes it, by force, and calls `done` when it is gone; tries again until it is. Absent is fine.
    void remove(const InstanceId& id, std::function<void()> done);

  private:
    Instance record_of(const BaseLaunch& launch) const;
    void tell_finished(const std::string& id, const Finished& done) const;

    Instances& instances_;
    Content& content_;
    const ConfigService& config_;
    Engine& engine_;
    Timer& timer_;
    NewInstances& launches_;
    InstanceDeletions& deletions_;
};

}  // namespace svc
