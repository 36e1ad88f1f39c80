#pragma once
// Keeps the records of nodes what the runtime says of its machines.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/nodes/local_node.h"
#include "libsvc/store/store.h"

namespace svc {

struct NodeRegistryParts {
    Store& store;
    Nodes& nodes;
    RemovedNodes& removed;
    Runtime& runtime;
    NodeServiceOptions options;  // with a local_name
};

// The machines of a runtime at one moment, each under the name of its node.
struct Machines {
    std::vector<RuntimeNode> all{};  // ordered by name
    bool several = true;             // the runtime names its machines, and others may come

    const RuntimeNode* find(std::string_view name) const;
    // Where there is one machine, it is that of every node: it may have had another name.
    bool is_online(std::string_view name) const;
};

// Thread-safe; for the leader, which alone writes.
class NodeRegistry {
  public:
    explicit NodeRegistry(NodeRegistryParts parts) : parts_(std::move(parts)) {}

    // Stores what differs, and nothing where nothing does: a machine that is new becomes a node, unless a
    // user has removed it; one that cannot be reached, or has gone, is offline; one that is back is online
    // with what it has now. Exposed services are forwarded from where the record says. `returning` is called
    // before nodes that were offline become online. True: a record has changed, or what a machine does.
    // Throws what runtime and store throw.
    bool follow(const std::function<void()>& returning);

    Machines machines() const;  // asks the runtime
    const std::string& local_name() const { return parts_.options.local_name; }

  private:
    struct Change {
        std::string name;
        std::function<void(Node&)> apply;  // empty: a removed machine has gone, and is forgotten
        bool is_new = false;
        bool returns = false;
    };
    std::vector<Change> changes(const Machines& present) const;
    bool forward(const Machines& present) const;
    std::optional<Change> change_of(const RuntimeNode& machine) const;
    void take(Node& node, const RuntimeNode& machine) const;
    Node new_node(const std::string& name) const;
    void find_gone(const Machines& machines, std::vector<Change>& all) const;
    void commit(const std::vector<Change>& changes) const;
    void stage(Batch& batch, const Change& change) const;
    void tell(const Change& change) const;

    const NodeRegistryParts parts_;
};

}  // namespace svc
