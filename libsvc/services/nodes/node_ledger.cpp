#include "libsvc/services/nodes/node_ledger.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

Amounts amounts_of(const Instance& instance) {
    const InstanceResources& resources = instance.resources;
    Amounts amounts;
    amounts.cpus = resources.cpus;
    amounts.memory = static_cast<double>(resources.memory);
    amounts.disk = static_cast<double>(resources.disk);
    amounts.gpu_slots = std::max(resources.gpu_slots, 0);
    amounts.gpu_encoder_slots = instance.needs_gpu_encoder ? 1 : 0;
    return amounts;
}

namespace {

std::vector<Gpu> gpus_for(const Instance& instance, const Node& node) {
    std::vector<Gpu> gpus = node.gpus;
    if (!instance.gpu_type.empty())
        std::erase_if(gpus, [&](const Gpu& gpu) { return gpu.type != instance.gpu_type; });
    return gpus;
}

}  // namespace

NodeLedger::NodeLedger(std::string_view subnet, std::uint16_t first_port, std::uint16_t last_port)
    : subnet_(subnet), addresses_(subnet), ports_(first_port, last_port) {}

NodeLedger::Taken NodeLedger::take(const Instance& instance, const Node& node, GpuMode mode) {
    release(instance.id.str(), true);
    Taken taken{"", instance.services, 0, {}};
    Held held;
    held.amounts = amounts_of(instance);
    auto address = addresses_.take();
    if (!address) throw Error(ErrorCode::exhausted, "no free address available");
    held.address = taken.address = std::move(*address);
    take_ports(taken, held);
    take_gpus(instance, node, mode, taken, held);
    put(instance.id.str(), std::move(held));
    return taken;
}

void NodeLedger::take_ports(Taken& taken, Held& held) {
    for (ServiceEntry& service : taken.services) {
        const std::uint16_t count = service.count();
        service.node_port = ports_.take(count);
        if (service.node_port == 0) {
            give_back(held);
            throw Error(ErrorCode::exhausted, "no free port available");
        }
        service.node_port_end =
            service.port_end ? static_cast<std::uint16_t>(service.node_port + count - 1) : std::uint16_t{0};
        held.blocks.push_back({service.node_port, count});
    }
}

void NodeLedger::take_gpus(const Instance& instance, const Node& node, GpuMode mode, Taken& taken,
                           Held& held) {
    if (instance.prefers_gpu_encoder && used_.gpu_encoder_slots + 1 <= node.gpu_encoder_slots)
        held.amounts.gpu_encoder_slots = 1;
    taken.gpu_encoder_slots = static_cast<int>(held.amounts.gpu_encoder_slots);
    const GpuNeeds needs{static_cast<int>(held.amounts.gpu_slots), taken.gpu_encoder_slots};
    taken.gpus = gpus_.take(instance.id.str(), needs, gpus_for(instance, node));
    if (taken.gpus.empty()) return;
    if (mode == GpuMode::one) {
        taken.gpus.resize(1);
        return;
    }
    for (const Gpu& gpu : gpus_for(instance, node))
        if (std::ranges::find(taken.gpus, gpu.id) == taken.gpus.end()) taken.gpus.push_back(gpu.id);
}

void NodeLedger::adopt(const Instance& instance, const Node& node, bool disk_only) {
    Held held;
    held.amounts = amounts_of(instance);
    held.amounts.gpu_encoder_slots = instance.gpu_encoder_slots;
    held.disk_only = disk_only;
    if (!disk_only) {
        if (addresses_.take_exactly(instance.address)) held.address = instance.address;
        for (const ServiceEntry& service : instance.services)
            if (service.node_port && ports_.take_exactly(service.node_port, service.count()))
                held.blocks.push_back({service.node_port, service.count()});
        gpus_.adopt(instance.id.str(),
                    {std::max(instance.resources.gpu_slots, 0), instance.gpu_encoder_slots}, node.gpus,
                    instance.gpus);
    }
    put(instance.id.str(), std::move(held));
}

void NodeLedger::release(std::string_view instance, bool keep_disk) {
    const auto found = held_.find(instance);
    if (found == held_.end() || (keep_disk && found->second.disk_only)) return;
    Held held = std::move(found->second);
    count(held, -1);
    gpus_.release(instance);
    give_back(held);
    if (!keep_disk) {
        held_.erase(found);
        return;
    }
    Held disk;
    disk.amounts = held.amounts;
    disk.disk_only = true;
    count(disk, 1);
    found->second = std::move(disk);
}

std::vector<std::string> NodeLedger::held() const {
    std::vector<std::string> ids;
    for (const auto& [id, held] : held_) ids.push_back(id);
    return ids;
}

void NodeLedger::give_back(const Held& held) {
    if (!held.address.empty()) addresses_.give_back(held.address);
    for (const Block& block : held.blocks) ports_.give_back(block.first, block.count);
}

void NodeLedger::count(const Held& held, double sign) {
    used_.disk += sign * held.amounts.disk;
    if (held.disk_only) return;
    // In thousandths, so that what was taken and given back leaves nothing.
    used_.cpus = std::round((used_.cpus + sign * held.amounts.cpus) * 1000) / 1000;
    used_.memory += sign * held.amounts.memory;
    used_.gpu_slots += sign * held.amounts.gpu_slots;
    used_.gpu_encoder_slots += sign * held.amounts.gpu_encoder_slots;
    running_ += sign > 0 ? 1 : -1;
}

// The caller has booked the GPUs.
void NodeLedger::put(const std::string& id, Held held) {
    if (const auto before = held_.find(id); before != held_.end()) {
        count(before->second, -1);
        give_back(before->second);
    }
    count(held, 1);
    held_.insert_or_assign(id, std::move(held));
}

}  // namespace svc
