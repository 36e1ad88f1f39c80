#pragma once
// Nodes: capacity, what is reserved on them, their changes and removal (specification: Worker nodes).
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/thread_pool.h"
#include "libsvc/model/cluster/node.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/machine_cluster.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/nodes/local_node.h"
#include "libsvc/services/nodes/node_additions.h"
#include "libsvc/services/nodes/node_records.h"
#include "libsvc/services/nodes/node_registry.h"
#include "libsvc/services/nodes/node_removal.h"
#include "libsvc/services/nodes/node_reservations.h"

namespace svc {

struct NodeServiceParts {
    Store& store;
    Nodes& nodes;
    RemovedNodes& removed;
    Runtime& runtime;
    const ConfigService& config;  // scheduler.strategy, gpu.*
    Engine& engine;
    Clock& clock;
    NodeServiceOptions options;
    MachineCluster* machine_cluster = nullptr;  // null: nothing joins the machines below the runtime
};

// Thread-safe. Registers "node.update" and, with its parts, "node.add" and "node.remove". Until recover() it
// only reads.
class NodeService {
  public:
    explicit NodeService(NodeServiceParts parts);
    ~NodeService();
    NodeService(const NodeService&) = delete;
    NodeService& operator=(const NodeService&) = delete;

    // For the leader: makes the records what the runtime says. Throws what runtime and store throw.
    void recover();
    // From now on the records follow the changes that the runtime tells of, on a thread of their own. Once
    // the engine has recovered its operations: what the listener finds unclaimed it repairs.
    void listen();
    void follow();  // now; a periodic job, too
    void stop();    // follows no longer; repeatable
    // Called while the records follow: `returning` before nodes that were offline become online, `changed`
    // after a change. Not called any more once it was set anew.
    struct Listener {
        std::function<void()> returning{}, changed{};
    };
    void on_changed(Listener listener);

    // See NodeReservations. The caller stores what is reserved with the record of the instance.
    void adopt(const std::vector<std::shared_ptr<const Instance>>& instances) {
        reservations_.adopt(instances);
    }
    Reservation reserve(const Instance& instance) { return reservations_.reserve(instance); }
    bool would_fit(const Instance& instance, const std::string& node,
                   const std::vector<std::shared_ptr<const Instance>>& gone) const {
        return reservations_.would_fit(instance, node, gone);
    }
    bool holds(const Instance& instance) const { return reservations_.holds(instance); }
    void release_all(const Instance& instance) {
        reservations_.release(instance, false);
    }  // instance removed
    void release_all_but_disk(const Instance& instance) { reservations_.release(instance, true); }

    // See NodeAdditions.
    Started create(const NodeCreate& request, const std::string& requestor) {
        return additions_.add(request, requestor);
    }
    // Whether a machine may join what is below the runtime: see NodeAdditions.
    std::string admit(std::string_view machine) const { return additions_.admit(machine); }
    // Takes effect for the next placement; a capacity below what is in use only blocks new instances. A
    // public address takes effect at once, or when the node is online again.
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
    // False: the runtime says that the node is offline, or does not know it.
    bool is_within_reach(std::string_view name) const;
    bool is_online(std::string_view name) const;        // by its record
    bool takes_instances(std::string_view name) const;  // online, and nobody has closed it
    std::shared_ptr<const Node> get(std::string_view name) const { return records_.get(name); }
    std::vector<std::shared_ptr<const Node>> list() const { return records_.list(); }
    Json describe(const Node& node) const;  // the API's record, with GPU allocations
    std::string etag(const Node& node) const;
    const std::string& local_name() const { return parts_.options.local_name; }

  private:
    void follow_soon();

    NodeServiceParts parts_;
    NodeRecords records_;
    NodeReservations reservations_;
    NodeRegistry registry_;
    NodeAdditions additions_;
    NodeRemovals removals_;
    bool follows_ = false;
    std::mutex following_;  // held while the records follow and the listener is told
    Listener listener_;
    ThreadPool thread_{"nodes", 1, 1};  // last: follows when the runtime tells of a change
};

}  // namespace svc
