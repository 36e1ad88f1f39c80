#pragma once
// Nodes: capacity, what is reserved on them, addresses and ports (specification: Worker nodes; facts 2, 7.4,
// 12).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/instance.h"
#include "libsvc/model/node.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/scheduler/scheduler.h"
#include "libsvc/store/collection.h"

namespace svc {

template <>
struct RecordTraits<Node> {
    static constexpr std::string_view noun = "node";
    static constexpr std::string_view prefix = "nodes/";
    static std::string id(const Node& n) { return n.name; }
    static std::string name(const Node&) { return ""; }
    static Json to_store(const Node& n) { return node_to_store(n); }
    static Node from_store(const Json& j) { return node_from_store(j); }
};
using Nodes = Collection<Node>;

struct NodeServiceOptions {
    std::string local_name;  // of this machine's node; "" = host name
    std::uint16_t first_port = 10000, last_port = 11000;
    Strategy strategy = Strategy::spread;
    double cpu_allocation_rate = 4,
           memory_allocation_rate = 2;  // of the local node when it is first registered
};

// What was reserved for an instance at `prepared`.
struct Reservation {
    std::string node, address, public_address;
    std::vector<ServiceEntry> services;  // with node ports
};

// Thread-safe. Reservations are kept in memory and derived from the instance records at start (`adopt`); the
// caller stores them with the record. One lock makes "choose and reserve" one step, so concurrent launches
// never oversubscribe.
class NodeService {
  public:
    NodeService(Store& store, Nodes& nodes, Runtime& runtime, NodeServiceOptions options);
    ~NodeService();
    void adopt(const std::vector<std::shared_ptr<const Instance>>& instances);
    // Throws exhausted with the reason of the scheduler, "no free port available", "no free address
    // available".
    Reservation reserve(const Instance& instance);
    void release_all(const Instance& instance);           // instance removed. Repeatable
    void release_all_but_disk(const Instance& instance);  // stopped or failed: the disk stays. Repeatable
    // Synchronous checks of an explicitly wanted node: 404 unknown, 400 unschedulable or not online.
    void check_wanted(std::string_view node) const;
    std::shared_ptr<const Node> get(std::string_view name) const;
    std::vector<std::shared_ptr<const Node>> list() const;
    std::string etag(const Node& node) const;
    const std::string& local_name() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
