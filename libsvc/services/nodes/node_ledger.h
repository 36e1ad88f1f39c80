#pragma once
// What is reserved on one node: amounts, addresses, ports and GPUs, per instance and in total.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/scheduler/scheduler.h"
#include "libsvc/services/nodes/address_pool.h"
#include "libsvc/services/nodes/gpu_ledger.h"
#include "libsvc/services/nodes/port_pool.h"

namespace svc {

// gpu.allocation_mode: which GPUs an instance that has slots may use.
enum class GpuMode { one, all };

// The amounts that an instance needs. An encoder slot that it only prefers is not counted.
Amounts amounts_of(const Instance& instance);

// One thread. The cost of a call does not grow with the number of instances.
class NodeLedger {
  public:
    NodeLedger(std::string_view subnet, std::uint16_t first_port, std::uint16_t last_port);

    struct Taken {
        std::string address;
        std::vector<ServiceEntry> services;  // with node ports
        int gpu_encoder_slots = 0;
        std::vector<int> gpus;  // ids
    };
    // All or nothing. `node`: for its GPUs. Throws exhausted "no free address available", "no free port
    // available".
    Taken take(const Instance& instance, const Node& node, GpuMode mode);
    // Books what the record says that the instance has, as far as no other instance has it.
    void adopt(const Instance& instance, const Node& node, bool disk_only);
    void release(std::string_view instance, bool keep_disk);
    bool holds(std::string_view instance) const { return held_.find(instance) != held_.end(); }
    bool empty() const { return held_.empty(); }
    std::vector<std::string> held() const;  // by which instances
    const std::string& subnet() const { return subnet_; }

    const Amounts& used() const { return used_; }
    std::uint64_t instances() const { return running_; }
    std::uint64_t free_addresses() const { return addresses_.free(); }
    std::uint64_t free_ports() const { return ports_.free(); }
    std::vector<GpuAllocation> gpu_allocations() const { return gpus_.allocations(); }

  private:
    struct Block {
        std::uint16_t first = 0, count = 0;
    };
    struct Held {
        Amounts amounts;
        std::string address;
        std::vector<Block> blocks;
        bool disk_only = false;
    };
    void take_ports(Taken& taken, Held& held);
    void take_gpus(const Instance& instance, const Node& node, GpuMode mode, Taken& taken, Held& held);
    void give_back(const Held& held);
    void count(const Held& held, double sign);
    void put(const std::string& id, Held held);

    const std::string subnet_;
    AddressPool addresses_;
    PortPool ports_;
    GpuLedger gpus_;
    std::map<std::string, Held, std::less<>> held_;
    Amounts used_;
    std::uint64_t running_ = 0;  // instances that hold more than their disk
};

}  // namespace svc
