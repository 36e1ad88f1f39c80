#pragma once
// What a manager offers the leader: the calls of this machine's Runtime and LayerStore (docs/managers.md,
// "Node API").
#include <filesystem>
#include <memory>
#include <vector>

#include "libsvc/cluster/peer.h"
#include "libsvc/cluster/runtime_events.h"
#include "libsvc/cluster/term_guard.h"
#include "libsvc/net/http/router.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

inline constexpr std::string_view node_path = "/internal/1.0/node/";

struct NodeApiParts {
    Runtime& runtime;
    LayerStore& layers;
    RuntimeEvents& events;
    TermGuard& guard;
    PeerIdentity identity;  // to fetch layers from other nodes
    std::filesystem::path
        packages;  // a folder for packages that wait for their call; emptied at construction
    std::size_t calls_at_once = 64;  // that change something; and as many commands
};

// Thread-safe. What `parts` refers to must outlive it. The server of the routes must have stopped, or must
// never call them again, before this ends; stop() before the server's stop() ends the calls for which that
// would wait.
class NodeApi {
  public:
    explicit NodeApi(NodeApiParts parts);
    ~NodeApi();
    NodeApi(const NodeApi&) = delete;
    NodeApi& operator=(const NodeApi&) = delete;

    // All have Access::admin: who may come in is the listener's business. They live as long as this.
    std::vector<Route> routes();
    void stop();  // cancels calls, closes the links of leaders; may be called again

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
