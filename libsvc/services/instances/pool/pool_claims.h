#pragma once
// Launches that take an instance of a pool: the record becomes that of the launch in the commit that accepts
// it, so nobody else can get the same instance (docs/pool.md).
#include <optional>
#include <string>

#include "libsvc/base/id.h"
#include "libsvc/services/instances/instance_changes.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/instances/launch/instance_launcher.h"
#include "libsvc/services/instances/launch/new_instances.h"
#include "libsvc/services/instances/pool/pool_pace.h"

namespace svc {

// Thread-safe. The handler of "instance.claim".
class PoolClaims {
  public:
    PoolClaims(Instances& instances, const Applications& applications, Runtime& runtime,
               const NodeService& nodes, Engine& engine, const NewInstances& new_instances,
               InstanceLauncher& launcher, InstanceChanges& changes, PoolPace& pace);

    // Gives the launch of `wanted` a pooled instance that is made like it; nothing: there is none, and the
    // launch makes its own. Throws what the store throws.
    std::optional<Started> claim(Instance wanted, PathWord word, const std::string& requestor);
    OperationResult run(OperationContext& context);

  private:
    bool may_be_claimed(const Instance& pooled, const Instance& wanted) const;
    std::optional<Started> find_and_claim(const Instance& wanted, PathWord word,
                                          const std::string& requestor);
    Started start(const std::string& id, const Instance& wanted, PathWord word, const std::string& requestor);

    Instances& instances_;
    const Applications& applications_;
    Runtime& runtime_;
    const NodeService& nodes_;
    Engine& engine_;
    const NewInstances& new_instances_;
    InstanceLauncher& launcher_;
    InstanceChanges& changes_;
    PoolPace& pace_;
};

}  // namespace svc
