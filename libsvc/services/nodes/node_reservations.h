#pragma once
// Places instances on nodes and keeps what is reserved for them: amounts, addresses, ports, GPUs
// (specification: Worker nodes; docs/runtime.md).
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/scheduler/node_table.h"
#include "libsvc/scheduler/scheduler.h"
#include "libsvc/services/nodes/node_ledger.h"
#include "libsvc/services/nodes/node_records.h"

namespace svc {

// The resources that are reserved for an instance that is `prepared`.
struct Reservation {
    std::string node, address, public_address;
    std::vector<ServiceEntry> services;  // with node ports
    int gpu_encoder_slots = 0;
    std::vector<int> gpus;
};

struct NodeReservationsParts {
    const Nodes& nodes;
    const NodeRecords& records;
    const ConfigService& config;  // scheduler.strategy, gpu.*
    std::uint16_t first_port, last_port;
};

// Thread-safe. In memory: derived from the instance records at start. One lock makes "choose and reserve" one
// step, so that concurrent launches never oversubscribe a node.
class NodeReservations {
  public:
    explicit NodeReservations(NodeReservationsParts parts) : parts_(parts) {}

    // At start: takes over the reservations that the records of these instances hold.
    void adopt(const std::vector<std::shared_ptr<const Instance>>& instances);
    // Throws exhausted with the reason of the scheduler, "no free port available", "no free address
    // available".
    Reservation reserve(const Instance& instance);
    // Whether there were room for it on the node without `gone`, which run there.
    bool would_fit(const Instance& instance, const std::string& node,
                   const std::vector<std::shared_ptr<const Instance>>& gone) const;
    // `keep_disk`: the instance is stopped or failed, its files stay on the node. Repeatable.
    void release(const Instance& instance, bool keep_disk);
    // Whether the node that the instance's record names has reserved something for it.
    bool holds(const Instance& instance) const;
    std::vector<std::string> instances_on(std::string_view node) const;  // ids, sorted
    void forget(const std::string& node);                                // the node is gone
    std::vector<GpuAllocation> gpu_allocations(std::string_view node) const;

  private:
    struct Table {
        std::uint64_t changes;  // change number of the nodes when the table was made
        std::string gpu_type;
        NodeTable nodes;
    };
    // With `mutex_` held.
    std::string choose(const Instance& instance);
    NodeTable& table();
    bool table_is_current() const;
    void make_ledgers(const std::vector<std::shared_ptr<const Node>>& nodes);
    void make_ledger(const Node& node);
    void count(const std::string& node);
    PlacementRequest request_for(const Instance& instance) const;
    Strategy strategy() const;
    GpuMode gpu_mode() const;
    [[noreturn]] void throw_shortage(const NoPlacement& refusal, PlacementRequest request);

    NodeReservationsParts parts_;
    mutable std::mutex mutex_;
    std::map<std::string, NodeLedger, std::less<>> ledgers_;  // by node
    std::optional<Table> table_;  // made again when the nodes or the configuration have changed
};

}  // namespace svc
