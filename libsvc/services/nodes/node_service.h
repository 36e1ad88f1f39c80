#pragma once
// Nodes: capacity, what is reserved on them, addresses and ports (specification: Worker nodes; facts 2, 7.4,
// 12).
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/scheduler/scheduler.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"

namespace svc {

struct NodeServiceOptions {
    std::string local_name;  // of this machine's node; "" = host name
    std::uint16_t first_port = 10000, last_port = 11000;
    double cpu_allocation_rate = 4,
           memory_allocation_rate = 2;  // of the local node when it is first registered
    std::filesystem::path sysfs;  // "/sys": where GPUs of the local node show; "": it is taken to have none
};

// What was reserved for an instance at `prepared`.
struct Reservation {
    std::string node, address, public_address;
    std::vector<ServiceEntry> services;  // with node ports
    int gpu_encoder_slots = 0;
    std::vector<int> gpus;
};

struct NodeServiceParts {
    Nodes& nodes;
    Runtime& runtime;
    const ConfigService& config;  // scheduler.strategy, gpu.*
    Engine& engine;
    NodeServiceOptions options;
};

// Thread-safe. Registers "node.update", "node.remove". Reservations are kept in memory and derived from the
// instance records at start (`adopt`); the caller stores them with the record. One lock makes "choose and
// reserve" one step, so concurrent launches never oversubscribe.
class NodeService {
  public:
    explicit NodeService(NodeServiceParts parts);
    ~NodeService();
    void adopt(const std::vector<std::shared_ptr<const Instance>>& instances);
    // Throws exhausted with the reason of the scheduler, "no free port available", "no free address
    // available".
    Reservation reserve(const Instance& instance);
    void release_all(const Instance& instance);           // instance removed. Repeatable
    void release_all_but_disk(const Instance& instance);  // stopped or failed: the disk stays. Repeatable
    // Of a runtime with one node: throws unsupported that says so, after checking the request (409 for a
    // known name or address).
    Started create(const NodeCreate& request, const std::string& requestor);
    // Commits and takes effect for the next placement; lowering below what is in use only blocks new
    // instances.
    Started patch(std::string_view name, const NodePatch& patch, std::string requestor,
                  const Precondition& unchanged = {});
    // 409 "node <name> is in use" without force while instances are on it. By force: `remove_instances`
    // deletes them first (given by InstanceService). The local node is registered again, with defaults, at
    // the next start of the service.
    Started remove(std::string_view name, const NodeRemoval& removal, std::string requestor);
    void on_forced_removal(std::function<void(const std::string& node)> remove_instances);
    Json describe(const Node& node) const;  // the API's record, with GPU allocations
    // Synchronous checks of an explicitly wanted node: 404 unknown, 400 unschedulable or not online.
    void check_wanted(std::string_view node) const;
    std::shared_ptr<const Node> get(std::string_view name) const;
    std::vector<std::shared_ptr<const Node>> list() const;
    std::string etag(const Node& node) const;
    const std::string& local_name() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
