#pragma once
// Deleting: the guest ends, container, logs and record go.
#include <functional>
#include <stop_token>
#include <string>

#include "libsvc/services/instances/end/instance_stops.h"
#include "libsvc/services/instances/launch/pending_boots.h"

namespace svc {

// Thread-safe. The handlers of "instance.delete", and the requests that start it.
class InstanceDeletions {
  public:
    InstanceDeletions(Instances& instances, Runtime& runtime, NodeService& nodes, Content& content,
                      Engine& engine, const Clock& clock, const StoredLogs& logs, PendingBoots& boots,
                      EndHooks& hooks, InstanceFailures& failures, const InstanceStops& stops,
                      InstanceChanges& changes);

    // Marks the instance as deleted and queues its deletion behind the operation that holds it; ends a launch
    // that waits for the guest. Throws not_found, forbidden when the instance is protected, busy when it is
    // being deleted already. `again`: then this deletion ends behind the other one instead. `change` is
    // committed with it, in both cases.
    Started start(const InstanceWork& work, PathWord word, const std::string& requestor, bool again = false,
                  const std::function<void(Instance&)>& change = {});
    // Throws unavailable when the instance's node is offline: only by force can it be deleted then. Its
    // container is removed when the node is back.
    void check_within_reach(const Instance& instance) const;
    // Deletes all instances of a node, by force. Blocks until they are gone, at most 5 minutes each. Throws
    // forbidden, before anything has changed, when one of them is protected; unavailable when the service
    // stops meanwhile.
    void remove_all_on(const std::string& node);

    OperationResult run(OperationContext& context);
    OperationResult undo(const Operation& operation, const Error& error);

  private:
    void await_deletion(const Operation& deletion);
    void remove_container(const Instance& instance, bool force);
    OperationResult remove(const InstancePtr& instance, bool force, const std::string& requestor,
                           const std::stop_token& stop);

    Instances& instances_;
    Runtime& runtime_;
    NodeService& nodes_;
    Content& content_;
    Engine& engine_;
    const Clock& clock_;
    const StoredLogs& logs_;
    PendingBoots& boots_;
    EndHooks& hooks_;
    InstanceFailures& failures_;
    const InstanceStops& stops_;
    InstanceChanges& changes_;
};

}  // namespace svc
