#pragma once
// The Runtime and the LayerStore of another machine, asked through its manager (docs/managers.md, "Node
// API").
#include <functional>
#include <memory>
#include <string>

#include "libsvc/cluster/node/link_client.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

struct RemoteNodeOptions {
    std::string name;  // "m2", for messages
    Target target;     // peer_target()
    std::function<std::uint64_t()> term;
    std::function<void()> may_begin = {};  // before each call that may change something: it may throw
    std::function<void()> connected = {};  // also at the first connection: compare with list()
    std::function<void(const std::string& why)> lost = {};  // also when the first try fails
    std::function<void(std::uint64_t term)> outdated = {};  // the node follows the leader of that newer term
    node::LinkTimes times = {};
    std::function<void(bool answered)> called = {};  // a call of the link has ended; any thread
};

// Thread-safe. Construction does not wait for the node. Calls are repeated when the connection was lost
// before the answer, but exec(); they throw unavailable "node m2 is offline" when it does not come back
// within `times.patience`, or when one that reads, or says where to forward from, has no answer within
// `times.answer`, and conflict when the node follows a newer leader. `connected`, `lost`,
// `outdated` and events are told on one thread of this.
class RemoteNode {
  public:
    explicit RemoteNode(RemoteNodeOptions options);
    ~RemoteNode();
    RemoteNode(const RemoteNode&) = delete;
    RemoteNode& operator=(const RemoteNode&) = delete;

    Runtime& runtime();
    LayerStore& layers();
    // Makes the node fetch a layer from the manager at `address`.
    void fetch_layer(std::string_view name, std::string_view address, const LayerStore::Progress& progress);
    bool connected() const;
    std::string fault() const;

  private:
    class Containers;
    class Layers;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace svc
