#pragma once
// Nodes: capacity, what is reserved on them, their changes and removal (specification: Worker nodes).
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/nodes/local_node.h"
#include "libsvc/services/nodes/node_records.h"
#include "libsvc/services/nodes/node_removal.h"
#include "libsvc/services/nodes/node_reservations.h"

namespace svc {

struct NodeServiceParts {
    Nodes& nodes;
    Runtime& runtime;
    const ConfigService& config;  // scheduler.strategy, gpu.*
    Engine& engine;
    NodeServiceOptions options;
};

// Thread-safe. Registers "node.update" and, with its parts, "node.remove". Registers the local node at
// construction.
class NodeService {
  public:
    explicit NodeService(NodeServiceParts parts);
    NodeService(const NodeService&) = delete;
    NodeService& operator=(const NodeService&) = delete;

    // See NodeReservations. The caller stores what is reserved with the record of the instance.
    void adopt(const std::vector<std::shared_ptr<const Instance>>& instances) {
        reservations_.adopt(instances);
    }
    Reservation reserve(const Instance& instance) { return reservations_.reserve(instance); }
    void release_all(const Instance& instance) {
        reservations_.release(instance, false);
    }  // instance removed
    void release_all_but_disk(const Instance& instance) { reservations_.release(instance, true); }

    // Throws conflict for a known name or address, else unsupported: every runtime has one node.
    Started create(const NodeCreate& request, const std::string& requestor);
    // Takes effect for the next placement; a capacity below what is in use only blocks new instances.
    Started patch(std::string_view name, const NodePatch& patch, std::string requestor,
                  const Precondition& unchanged = {});
    Started remove(std::string_view name, const NodeRemoval& removal, std::string requestor) {
        return removals_.remove(name, removal, std::move(requestor));
    }
    void on_forced_removal(std::function<void(const std::string& node)> remove_instances) {
        removals_.on_forced_removal(std::move(remove_instances));
    }
    // Checks of a node that a request names: throws not_found, invalid_argument when it is unschedulable or
    // not online.
    void check_wanted(std::string_view node) const;
    std::shared_ptr<const Node> get(std::string_view name) const { return records_.get(name); }
    std::vector<std::shared_ptr<const Node>> list() const { return records_.list(); }
    Json describe(const Node& node) const;  // the API's record, with GPU allocations
    std::string etag(const Node& node) const;
    const std::string& local_name() const { return parts_.options.local_name; }

  private:
    NodeServiceParts parts_;
    NodeRecords records_;
    NodeReservations reservations_;
    NodeRemovals removals_;
};

}  // namespace svc
