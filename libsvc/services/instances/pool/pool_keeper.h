#pragma once
// Keeps the pools of all applications as large as they are to be: launches what is missing, removes what is
// too much, and what a launch of now would make otherwise (docs/pool.md).
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/events/event_bus.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/instances/launch/launch_source.h"
#include "libsvc/services/instances/pool/pool_pace.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

struct PoolCalls {
    std::function<Started(Instance)> launch;  // accepts the launch of this record
    std::function<void(const std::string& id)>
        remove;  // of a pooled instance; throws busy when it is claimed
};

struct PoolKeeperParts {
    const Instances& instances;
    LaunchRecords sources;
    const ConfigService& config;  // application.max_pool_size, and what launches take of it
    const NodeService& nodes;
    Engine& engine;
    EventBus& events;
    PoolPace& pace;
    PoolCalls calls;
};

// Thread-safe. Does nothing by itself.
class PoolKeeper {
  public:
    explicit PoolKeeper(PoolKeeperParts parts) : parts_(std::move(parts)) {}
    // Compares every pool with what it is to be, and begins what is to be done. A periodic job.
    void keep();

  private:
    using Members = std::vector<InstancePtr>;
    using Pools = std::map<std::string, Members>;  // by application
    Pools wanted_pools() const;
    void add_members(Pools& pools);
    void keep_pool(const std::string& application, const Members& members);
    std::optional<Instance> model_of(const std::string& application) const;
    bool is_sound(const Instance& member, const std::optional<Instance>& model) const;
    void take_out(const Instance& member) const;
    bool launch(const std::string& application, const Instance& model);
    void launch_ended(const std::string& application, const Started& last) const;
    void tell_failure(const std::string& application, const std::string& reason) const;

    const PoolKeeperParts parts_;
    std::mutex keeping_;
    bool may_have_members_ = true;  // of an earlier process, or of pools that there are no more
};

}  // namespace svc
