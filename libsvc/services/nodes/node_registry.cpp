#include "libsvc/services/nodes/node_registry.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/services/common/retry.h"

namespace svc {

namespace {

constexpr std::size_t changes_per_commit = 50;  // etcd takes 128 changes at once

bool differ(const Node& a, const Node& b) {
    return !(node_to_store(a) == node_to_store(b));
}

bool is_up(const Node& node) {
    return node.status == NodeStatus::online || node.status == NodeStatus::evacuated;
}

// A request that adds a node may have failed before its machine came.
bool has_come(const Node& node) {
    return !node.runtime.empty();
}

bool is_away(const Node& node) {
    return node.status == NodeStatus::offline || (node.status == NodeStatus::error && has_come(node));
}

NodeStatus status_of(const Node& node, const RuntimeNode& machine) {
    const bool emptied = node.evacuated && node.unschedulable;
    return machine.evacuated || emptied ? NodeStatus::evacuated : NodeStatus::online;
}

}  // namespace

const RuntimeNode* Machines::find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(all, name, {}, &RuntimeNode::name);
    return found != all.end() && found->name == name ? &*found : nullptr;
}

bool Machines::is_online(std::string_view name) const {
    const RuntimeNode* const machine = find(name);
    return machine == nullptr ? !several : machine->online;
}

Machines NodeRegistry::machines() const {
    Machines present{parts_.runtime.nodes()};
    for (RuntimeNode& machine : present.all) {
        if (!machine.name.empty()) continue;
        machine.name = parts_.options.local_name;
        present.several = false;
    }
    std::ranges::sort(present.all, {}, &RuntimeNode::name);
    return present;
}

bool NodeRegistry::follow(const std::function<void()>& returning) {
    bool any = false;
    Machines present;
    retry_on_conflict([&] {
        present = machines();
        const auto found = changes(present);
        if (returning && std::ranges::any_of(found, &Change::returns)) returning();
        commit(found);
        any = any || !found.empty();
    });
    return forward(present) || any;
}

// A machine that began anew forwards exposed services from where its configuration says.
bool NodeRegistry::forward(const Machines& present) const {
    bool any = false;
    for (const RuntimeNode& machine : present.all) {
        const auto node = parts_.nodes.find(machine.name);
        const std::string& now = machine.capacity.forwards_from;
        if (!machine.online || !node || now.empty() || node->public_address == now) continue;
        try {
            parts_.runtime.forward_from(machine.name, node->public_address);
            any = true;
            log::info("node forwards exposed services from another address",
                      {{"node", node->name}, {"address", node->public_address}});
        } catch (const Error& e) {  // the next call tries again
            log::warning("exposed services are still forwarded from another address",
                         {{"node", node->name}, {"address", now}, {"error", e.what()}});
        }
    }
    return any;
}

std::vector<NodeRegistry::Change> NodeRegistry::changes(const Machines& present) const {
    std::vector<Change> all;
    for (const RuntimeNode& machine : present.all)
        if (auto change = change_of(machine)) all.push_back(std::move(*change));
    if (present.several) find_gone(present, all);
    return all;
}

std::optional<NodeRegistry::Change> NodeRegistry::change_of(const RuntimeNode& machine) const {
    const auto known = parts_.nodes.find(machine.name);
    if (!known && (!machine.online || parts_.removed.find(machine.name))) return std::nullopt;
    Node node = known ? *known : new_node(machine.name);
    take(node, machine);
    if (known && !differ(*known, node)) return std::nullopt;
    return Change{machine.name, [this, machine](Node& changed) { take(changed, machine); }, !known,
                  known && is_away(*known) && machine.online};
}

Node NodeRegistry::new_node(const std::string& name) const {
    Node node;
    node.name = name;
    node.cpu_allocation_rate = parts_.options.cpu_allocation_rate;
    node.memory_allocation_rate = parts_.options.memory_allocation_rate;
    return node;
}

void NodeRegistry::take(Node& node, const RuntimeNode& machine) const {
    node.is_master = machine.name == local_name();
    if (!machine.online) {
        if (is_up(node) || is_away(node))
            node.status = machine.failing ? NodeStatus::error : NodeStatus::offline;
        return;
    }
    node.managed = node.managed && machine.managed;
    take_machine(node, machine.capacity);
    if (node.status != NodeStatus::deleted)  // else it is being removed
        node.status = status_of(node, machine);
}

// Machines without a manager.
void NodeRegistry::find_gone(const Machines& machines, std::vector<Change>& all) const {
    const auto has_machine = [&](const std::string& name) { return machines.find(name) != nullptr; };
    for (const auto& known : parts_.nodes.list()) {
        if (!is_up(*known) || has_machine(known->name)) continue;
        all.push_back({known->name, [](Node& node) {
                           node.is_master = false;
                           if (is_up(node)) node.status = NodeStatus::offline;
                       }});
    }
    for (const auto& removed : parts_.removed.list())
        if (!removed->keeps_manager && !has_machine(removed->name)) all.push_back({removed->name, {}});
}

void NodeRegistry::commit(const std::vector<Change>& changes) const {
    for (std::size_t begin = 0; begin < changes.size(); begin += changes_per_commit) {
        const std::size_t end = std::min(changes.size(), begin + changes_per_commit);
        Batch batch;
        for (std::size_t i = begin; i < end; ++i) stage(batch, changes[i]);
        parts_.store.commit(batch);
        for (std::size_t i = begin; i < end; ++i) tell(changes[i]);
    }
}

void NodeRegistry::stage(Batch& batch, const Change& change) const {
    if (!change.apply) return parts_.removed.stage_remove(batch, change.name);
    if (!change.is_new) return parts_.nodes.stage_update(batch, change.name, change.apply);
    Node node = new_node(change.name);
    change.apply(node);
    parts_.nodes.stage_overwrite(batch, node);
}

void NodeRegistry::tell(const Change& change) const {
    const auto node = change.apply ? parts_.nodes.find(change.name) : nullptr;
    if (node)
        log::info(change.is_new ? "node registered" : "node changed",
                  {{"node", node->name},
                   {"runtime", node->runtime},
                   {"status", std::string(to_text(node->status))}});
}

}  // namespace svc
