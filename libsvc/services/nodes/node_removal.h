#pragma once
// Removes nodes. From the request on the node has the status `deleted`, so that nothing new is placed on it.
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/operations/engine.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/nodes/node_reservations.h"

namespace svc {

// Thread-safe. Registers "node.remove".
class NodeRemovals {
  public:
    NodeRemovals(Nodes& nodes, NodeReservations& reservations, Engine& engine, std::string local_name);
    NodeRemovals(const NodeRemovals&) = delete;
    NodeRemovals& operator=(const NodeRemovals&) = delete;

    // Throws not_found; conflict "node <name> is in use" without force while instances are on it;
    // invalid_argument for the local node. By force the instances are deleted first.
    Started remove(std::string_view name, const NodeRemoval& removal, std::string requestor);
    // Deletes the instances of a node and returns when they are gone, on an engine thread. Set before the
    // engine starts.
    void on_forced_removal(std::function<void(const std::string& node)> remove_instances) {
        remove_instances_ = std::move(remove_instances);
    }

  private:
    OperationResult run(const Operation& operation);
    OperationResult undo(const Operation& operation);
    void require_other_machine(std::string_view name) const;

    Nodes& nodes_;
    NodeReservations& reservations_;
    Engine& engine_;
    const std::string local_name_;
    std::function<void(const std::string& node)> remove_instances_;  // may be empty
};

}  // namespace svc
