#pragma once
// The inside of NodeService. node_service.cpp takes requests and registers the local node;
// node_reservations.cpp places instances; node_removal.cpp takes nodes away.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/scheduler/node_table.h"
#include "libsvc/services/nodes/node_ledger.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

class NodeService::Implementation {
  public:
    using Ptr = std::shared_ptr<const Node>;

    explicit Implementation(NodeServiceParts parts);

    void adopt(const std::vector<std::shared_ptr<const Instance>>& instances);
    Reservation reserve(const Instance& instance);
    void release(const Instance& instance, bool keep_disk);
    Started create(const NodeCreate& request) const;
    Started patch(std::string_view name, const NodePatch& patch, std::string requestor,
                  const Precondition& unchanged);
    Started remove(std::string_view name, const NodeRemoval& removal, std::string requestor);
    void on_forced_removal(std::function<void(const std::string& node)> remove_instances);
    Ptr get(std::string_view name) const;
    std::vector<Ptr> list() const;
    Json describe(const Node& node) const;
    const std::string& local_name() const { return parts_.options.local_name; }

  private:
    void register_local(const Capacity& capacity);
    void register_kinds();
    Ptr as_seen(const Ptr& node) const;
    OperationSpec spec_for(std::string kind, std::string description, const Node& node, Json arguments,
                           std::string requestor) const;

    // node_reservations.cpp; `mutex_` is held
    std::string choose(const Instance& instance);
    NodeTable& table();
    bool table_is_current() const;
    void count(const std::string& node);
    PlacementRequest request_for(const Instance& instance) const;
    Strategy strategy() const;
    GpuMode gpu_mode() const;
    [[noreturn]] void throw_shortage(const NoPlacement& refusal, PlacementRequest request);

    // node_removal.cpp
    OperationResult run_removal(const Operation& operation);
    OperationResult undo_removal(const Operation& operation);
    void require_other_machine(std::string_view name) const;
    bool is_in_use(std::string_view name) const;

    NodeServiceParts parts_;
    std::function<void(const std::string& node)> remove_instances_;
    mutable std::mutex mutex_;  // spans choosing and reserving
    std::map<std::string, NodeLedger, std::less<>> ledgers_;
    struct Table {
        std::uint64_t changes;  // of the nodes when it was made
        std::string gpu_type;
        NodeTable nodes;
    };
    std::optional<Table> table_;  // made again when what it was made of has changed
};

}  // namespace svc
