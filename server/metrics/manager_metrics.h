#pragma once
// The metrics svc_manager_*, svc_node_calls_total and svc_packages*: who leads, which managers live, how the
// leader reaches the nodes and keeps the packages. A manager that is the only one leads, in term 1.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/base/metrics.h"
#include "libsvc/cluster/cluster_blobs.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/store/membership.h"

namespace svc::server {

struct ManagerMetricsParts {
    MetricsRegistry& registry;
    const NodeService& nodes;
    std::string name;                        // of this manager
    Membership* membership = nullptr;        // null: it is the only one
    std::function<bool()> leads = {};        // empty: it does
    const ClusterBlobs* packages = nullptr;  // null: they are not copied
};

// Thread-safe. It registers a collector: nothing may render the registry after this object is destroyed.
class ManagerMetrics {
  public:
    explicit ManagerMetrics(ManagerMetricsParts parts);
    ~ManagerMetrics();
    ManagerMetrics(const ManagerMetrics&) = delete;
    ManagerMetrics& operator=(const ManagerMetrics&) = delete;

  private:
    void collect(std::string& out) const;
    void look();

    const ManagerMetricsParts parts_;
    Counter& takeovers_;
    std::atomic<std::uint64_t> term_;  // the newest that was seen
    std::shared_ptr<void> following_;  // last: its calls use the rest
};

// The counter of ClusterRuntimeParts::on_call. `registry` outlives it.
std::function<void(const std::string& node, bool answered)> node_calls(MetricsRegistry& registry);

}  // namespace svc::server
