#pragma once
// All machines of a cluster as one Runtime and one LayerStore, for the manager that leads (docs/managers.md,
// "Nodes").
#include <memory>

#include "libsvc/cluster/members/members.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe. Construction waits for no node. A container is on the node that its specification names ("":
// the leader's own). Of nodes that are offline, containers are unreadable with the fault "node m2 is
// offline"; calls for them throw unavailable with that text. What `parts` refers to must outlive this; ended
// calls and no stream or command of it may be left when it ends.
class ClusterRuntime {
  public:
    explicit ClusterRuntime(ClusterRuntimeParts parts);
    ~ClusterRuntime();
    ClusterRuntime(const ClusterRuntime&) = delete;
    ClusterRuntime& operator=(const ClusterRuntime&) = delete;

    // This manager leads now, where it did not at construction. Once, before other nodes are asked for
    // anything.
    void lead(std::uint64_t term);
    Runtime& runtime();
    // add() and export_archive() work on the leader's own machine, capture(), snapshot() and restore() on the
    // container's node; create() fetches what a node lacks from another one. remove() leaves layers of nodes
    // that are offline: list() tells them again when they are back.
    LayerStore& layers();

  private:
    class Containers;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace svc
