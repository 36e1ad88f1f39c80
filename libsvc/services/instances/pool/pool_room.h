#pragma once
// Instances of pools make room for launches that find none (docs/pool.md).
#include <functional>
#include <string>
#include <vector>

#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/instances/pool/pool_pace.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

// Thread-safe.
class PoolRoom {
  public:
    // `remove` starts the deletion of a pooled instance; throws busy when it was claimed meanwhile.
    using Remove = std::function<void(const std::string& id)>;
    PoolRoom(const Instances& instances, const NodeService& nodes, PoolPace& pace, Remove remove)
        : instances_(instances), nodes_(nodes), pace_(pace), remove_(std::move(remove)) {}
    // Begins to delete as few pooled instances of one node as it takes until there is room for `wanted`.
    // Returns the claims of their deletions: behind these there is room. None: pools cannot help, and keep
    // what they have.
    std::vector<std::string> make_for(const Instance& wanted) const;

  private:
    using Group = std::vector<InstancePtr>;
    Group enough_of(const Group& group, const Instance& wanted) const;
    Group choose_for(const Instance& wanted) const;

    const Instances& instances_;
    const NodeService& nodes_;
    PoolPace& pace_;
    const Remove remove_;
};

}  // namespace svc
