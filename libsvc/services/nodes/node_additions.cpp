#include "libsvc/services/nodes/node_additions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/nodes/node_operation.h"

namespace svc {

namespace {

// "10.0.0.11" of "10.0.0.11:8443", "fd00::1" of "[fd00::1]:8443".
std::string host_of(const std::string& address) {
    if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
    const bool has_port = std::ranges::count(address, ':') == 1;
    return has_port ? address.substr(0, address.find(':')) : address;
}

Node node_of(const NodeCreate& request) {
    Node node;
    node.name = request.name;
    node.address = request.address;
    node.public_address = request.public_address;
    node.bridge_mtu = request.bridge_mtu;
    node.configured_cpus = request.cpus;
    node.cpu_allocation_rate = request.cpu_allocation_rate;
    node.configured_memory = request.memory;
    node.memory_allocation_rate = request.memory_allocation_rate;
    node.gpu_slots = request.gpu_slots.value_or(0);
    node.gpu_encoder_slots = request.gpu_encoder_slots.value_or(0);
    node.gpu_slots_set = request.gpu_slots || request.gpu_encoder_slots;
    node.tags = request.tags;
    node.storage_device = request.storage_device;
    node.managed = !request.unmanaged;
    node.is_master = false;
    node.status = NodeStatus::created;
    return node;
}

}  // namespace

NodeAdditions::NodeAdditions(NodeAdditionParts parts, Engine& engine, Clock& clock, Duration limit,
                             std::function<void()> follow)
    : nodes_(parts.nodes),
      removed_(parts.removed),
      registry_(parts.registry),
      machine_cluster_(parts.machine_cluster),
      engine_(engine),
      limit_(limit),
      follow_(std::move(follow)),
      timer_(clock, "node-timer") {
    engine_.handle("node.add", {[this](OperationContext& context) {
                                    begin(context);
                                    return OperationResult();
                                },
                                [this](const Operation& o, const Error& e) { return undo(o, e); }, true});
}

void NodeAdditions::check(const NodeCreate& request) const {
    const std::string host = host_of(request.address);
    for (const auto& node : nodes_.list())
        if (node->name == request.name || host_of(node->address) == host)
            throw Error(ErrorCode::conflict, "node already exists");
    const auto machines = registry_.machines();
    const RuntimeNode* const machine = machines.find(request.name);
    check_wishes(request, machine, machine_cluster_);
    if (machine != nullptr) return;
    for (const RuntimeNode& machine : machines.all)
        if (host_of(machine.capacity.address) == host)
            throw_invalid("name", "the machine at " + host + " is node " + quoted(machine.name));
    if (!machines.several)
        throw Error(ErrorCode::unsupported, "adding node " + request.name + ": runtime " +
                                                machines.all.front().capacity.runtime + " has one node");
}

Started NodeAdditions::add(const NodeCreate& request, const std::string& requestor) {
    check(request);
    const Node node = node_of(request);
    auto spec = node_operation("node.add", "Creating node", node, requestor);
    spec.cancellable = true;
    Batch batch;
    nodes_.stage_create(batch, node);
    if (removed_.find(node.name)) removed_.stage_remove(batch, node.name);
    return engine_.start(std::move(spec), std::move(batch));
}

std::string NodeAdditions::admit(std::string_view machine) const {
    const std::string name(machine);
    const auto node = nodes_.find(machine);  // before the mark, which replaces it
    if (removed_.find(machine))
        throw Error(ErrorCode::conflict, "node " + name + " was removed: POST /1.0/nodes adds it again");
    if (!node) return "";
    if (node->status == NodeStatus::deleted)
        throw Error(ErrorCode::conflict, "node " + name + " is being removed");
    if (!node->managed)
        throw Error(ErrorCode::conflict, "node " + name + " is unmanaged: its operator joins it");
    return node->storage_device;
}

// No worker is held while the machine is waited for.
void NodeAdditions::begin(OperationContext& context) {
    const std::string name = node_of(context.operation());
    nodes_.update(name, [](Node& node) {
        if (node.status == NodeStatus::created) node.status = NodeStatus::initializing;
    });
    const std::string id = context.operation().id.str();
    const Error cancelled(ErrorCode::cancelled, "Operation cancelled");
    auto completion = context.detach([this, id, cancelled] { fail(id, cancelled); });
    waiting_.with([&](auto& all) { all.insert_or_assign(id, Waiting{name, std::move(completion)}); });
    if (context.stop().stop_requested()) fail(id, cancelled);
    timer_.after(limit_, [this, id, name] { time_out(id, name); });
    follow_();
}

void NodeAdditions::time_out(const std::string& operation, const std::string& name) {
    const Machines machines = registry_.machines();
    const RuntimeNode* const machine = machines.find(name);
    const std::string reason =
        machine != nullptr ? machine->fault : "no manager of that name has joined the cluster";
    fail(operation, Error(ErrorCode::unavailable, "node " + name + " has not come within " +
                                                      format_duration(limit_) + ": " + reason));
}

void NodeAdditions::look() {
    std::vector<std::string> arrived;
    waiting_.with([&](const auto& all) {
        for (const auto& [operation, waiting] : all) {
            const auto node = nodes_.find(waiting.node);
            if (node && node->status == NodeStatus::online) arrived.push_back(operation);
        }
    });
    for (const std::string& operation : arrived)
        if (const auto completion = take(operation)) completion->succeed([] { return OperationResult(); });
}

std::shared_ptr<OperationCompletion> NodeAdditions::take(const std::string& operation) {
    return waiting_.with([&](auto& all) -> std::shared_ptr<OperationCompletion> {
        const auto found = all.find(operation);
        if (found == all.end()) return nullptr;
        auto completion = std::move(found->second.completion);
        all.erase(found);
        return completion;
    });
}

void NodeAdditions::fail(const std::string& operation, const Error& error) {
    if (const auto completion = take(operation)) completion->fail(error);
}

// A cancelled request leaves nothing; after a failure the record says what went wrong until it is removed.
OperationResult NodeAdditions::undo(const Operation& operation, const Error& error) {
    OperationResult result;
    result.stage = [this, name = node_of(operation), code = error.code()](Batch& last) {
        const auto node = nodes_.find(name);
        if (!node || node->status == NodeStatus::online || node->status == NodeStatus::deleted) return;
        if (code == ErrorCode::cancelled) return nodes_.stage_remove(last, name);
        nodes_.stage_update(last, name, [](Node& changed) { changed.status = NodeStatus::error; });
    };
    return result;
}

}  // namespace svc
