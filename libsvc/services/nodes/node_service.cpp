#include "libsvc/services/nodes/node_service.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/nodes/gpu_probe.h"
#include "libsvc/services/nodes/node_implementation.h"

namespace svc {

namespace {

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "node0";
    return name.data();
}

// GPUs keep the slots that a user has given them.
std::vector<Gpu> merged(std::vector<Gpu> found, const std::vector<Gpu>& known) {
    for (Gpu& gpu : found) {
        const auto before = std::ranges::find(known, gpu.pci_address, &Gpu::pci_address);
        if (before == known.end() || before->type != gpu.type) continue;
        gpu.slots = before->slots;
        gpu.encoder_slots = before->encoder_slots;
    }
    return found;
}

// What the machine says; what a user has set on the node stays.
void take_over(Node& node, const Capacity& capacity, const std::vector<Gpu>& gpus) {
    if (node.public_address.empty() || node.public_address == node.address)
        node.public_address = capacity.public_address.empty() ? capacity.address : capacity.public_address;
    node.address = capacity.address;
    node.bridge_mtu = capacity.bridge_mtu;
    node.cpus = static_cast<int>(capacity.cpus);
    node.memory = capacity.memory_bytes;
    node.disk_size = capacity.disk_bytes;
    node.architecture = capacity.architecture;
    node.storage_pool = capacity.storage_pool;
    node.subnet = capacity.subnet;
    node.runtime = capacity.runtime;
    node.disk_limit_enforced = capacity.disk_limit_enforced;
    node.details = capacity.details;
    node.gpus = merged(gpus, node.gpus);
    if (node.status != NodeStatus::deleted) node.status = NodeStatus::online;  // else its removal goes on
}

// Evenly over the GPUs, the first ones take what is left over.
void divide(std::vector<Gpu>& gpus, int Gpu::*slots, int total) {
    const int count = static_cast<int>(gpus.size());
    for (int i = 0; i < count; ++i)
        gpus[static_cast<std::size_t>(i)].*slots = total / count + (i < total % count ? 1 : 0);
}

void set_slots(Node& node, const NodePatch& patch, const Node& seen) {
    if (!node.gpus.empty()) {
        if (patch.gpu_slots) divide(node.gpus, &Gpu::slots, *patch.gpu_slots);
        if (patch.gpu_encoder_slots) divide(node.gpus, &Gpu::encoder_slots, *patch.gpu_encoder_slots);
    } else if (patch.gpu_slots || patch.gpu_encoder_slots) {
        node.gpu_slots = patch.gpu_slots.value_or(seen.gpu_slots);
        node.gpu_encoder_slots = patch.gpu_encoder_slots.value_or(seen.gpu_encoder_slots);
        node.gpu_slots_set = true;
    }
    for (const NodePatch::GpuSlots& change : patch.gpus) {
        const auto gpu = std::ranges::find(node.gpus, change.id, &Gpu::id);
        if (gpu == node.gpus.end())
            throw_invalid("gpus", "node " + node.name + " has no GPU " + std::to_string(change.id));
        if (change.slots) gpu->slots = *change.slots;
        if (change.encoder_slots) gpu->encoder_slots = *change.encoder_slots;
    }
}

template <class T>
void set_if(T& field, const std::optional<T>& value) {
    if (value) field = *value;
}

void apply(const NodePatch& patch, const Node& seen, Node& node) {
    if (patch.public_address)
        node.public_address = patch.public_address->empty() ? node.address : *patch.public_address;
    set_if(node.configured_cpus, patch.cpus);
    set_if(node.configured_memory, patch.memory);
    set_if(node.cpu_allocation_rate, patch.cpu_allocation_rate);
    set_if(node.memory_allocation_rate, patch.memory_allocation_rate);
    set_if(node.tags, patch.tags);
    set_if(node.unschedulable, patch.unschedulable);
    set_slots(node, patch, seen);
}

// Allowed, for a guest may encode by software: worth a word only.
void warn_of_encoders(const Node& node) {
    if (node.gpu_encoder_slots > 0 && node.gpu_slots > node.gpu_encoder_slots)
        log::warning("node has more GPU slots than GPU encoder slots", {{"node", node.name}});
}

}  // namespace

NodeService::Implementation::Implementation(NodeServiceParts parts) : parts_(std::move(parts)) {
    if (parts_.options.local_name.empty()) parts_.options.local_name = host_name();
    register_local(parts_.runtime.capacity());
    for (const auto& node : parts_.nodes.list())
        ledgers_.try_emplace(node->name, node->subnet, parts_.options.first_port, parts_.options.last_port);
    register_kinds();
}

void NodeService::Implementation::register_kinds() {
    parts_.engine.handle("node.update", {[](OperationContext&) { return OperationResult(); }, nullptr, true});
    parts_.engine.handle("node.remove",
                         {[this](OperationContext& c) { return run_removal(c.operation()); },
                          [this](const Operation& o, const Error&) { return undo_removal(o); }, true});
}

void NodeService::Implementation::register_local(const Capacity& capacity) {
    const NodeServiceOptions& options = parts_.options;
    const auto gpus = options.sysfs.empty() ? std::vector<Gpu>() : probe_gpus(options.sysfs);
    if (parts_.nodes.find(options.local_name)) {
        parts_.nodes.update(options.local_name, [&](Node& node) { take_over(node, capacity, gpus); });
        return;
    }
    Node node;
    node.name = options.local_name;
    node.cpu_allocation_rate = options.cpu_allocation_rate;
    node.memory_allocation_rate = options.memory_allocation_rate;
    take_over(node, capacity, gpus);
    parts_.nodes.create(std::move(node));
    log::info("node registered", {{"node", options.local_name}, {"runtime", capacity.runtime}});
}

NodeService::Implementation::Ptr NodeService::Implementation::as_seen(const Ptr& node) const {
    return std::make_shared<const Node>(with_gpu_type(*node, parts_.config.text("gpu.type")));
}

NodeService::Implementation::Ptr NodeService::Implementation::get(std::string_view name) const {
    return as_seen(parts_.nodes.get(name));
}

std::vector<NodeService::Implementation::Ptr> NodeService::Implementation::list() const {
    std::vector<Ptr> nodes = parts_.nodes.list();
    const std::string gpu_type = parts_.config.text("gpu.type");
    for (Ptr& node : nodes) node = std::make_shared<const Node>(with_gpu_type(*node, gpu_type));
    return nodes;
}

Json NodeService::Implementation::describe(const Node& node) const {
    std::vector<GpuAllocation> allocations;
    {
        std::lock_guard lock(mutex_);
        const auto ledger = ledgers_.find(node.name);
        if (ledger != ledgers_.end()) allocations = ledger->second.gpu_allocations();
    }
    return to_json(node, allocations);
}

OperationSpec NodeService::Implementation::spec_for(std::string kind, std::string description,
                                                    const Node& node, Json arguments,
                                                    std::string requestor) const {
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources["nodes"] = {"/1.0/nodes/" + node.name};
    spec.claims = {"nodes/" + node.name};
    spec.arguments = std::move(arguments);
    spec.requestor = std::move(requestor);
    return spec;
}

Started NodeService::Implementation::create(const NodeCreate& request) const {
    for (const auto& node : parts_.nodes.list())
        if (node->name == request.name || node->address == request.address)
            throw Error(ErrorCode::conflict, "node already exists");
    throw Error(ErrorCode::unsupported, "adding node " + request.name + ": runtime " +
                                            parts_.runtime.capacity().runtime + " has one node");
}

// The change commits with the operation's record, which has nothing left to do.
Started NodeService::Implementation::patch(std::string_view name, const NodePatch& patch,
                                           std::string requestor, const Precondition& unchanged) {
    return retry_on_conflict([&] {
        const Ptr seen = get(name);
        auto spec = spec_for("node.update", "Updating node " + seen->name, *seen,
                             Json::object({{"node", seen->name}}), requestor);
        Batch batch;
        parts_.nodes.stage_update(batch, seen->name, [&](Node& node) {
            if (unchanged) unchanged(sha256_hex(etag_text(*as_seen(std::make_shared<const Node>(node)))));
            apply(patch, *seen, node);
        });
        Started started = parts_.engine.start(std::move(spec), std::move(batch));
        if (const auto now = parts_.nodes.find(name)) warn_of_encoders(*as_seen(now));
        return started;
    });
}

void NodeService::Implementation::on_forced_removal(
    std::function<void(const std::string& node)> remove_instances) {
    remove_instances_ = std::move(remove_instances);
}

NodeService::NodeService(NodeServiceParts parts)
    : implementation_(std::make_unique<Implementation>(std::move(parts))) {}
NodeService::~NodeService() = default;

void NodeService::adopt(const std::vector<std::shared_ptr<const Instance>>& instances) {
    implementation_->adopt(instances);
}

Reservation NodeService::reserve(const Instance& instance) {
    return implementation_->reserve(instance);
}

void NodeService::release_all(const Instance& instance) {
    implementation_->release(instance, false);
}

void NodeService::release_all_but_disk(const Instance& instance) {
    implementation_->release(instance, true);
}

Started NodeService::create(const NodeCreate& request, const std::string&) {
    return implementation_->create(request);
}

Started NodeService::patch(std::string_view name, const NodePatch& patch, std::string requestor,
                           const Precondition& unchanged) {
    return implementation_->patch(name, patch, std::move(requestor), unchanged);
}

Started NodeService::remove(std::string_view name, const NodeRemoval& removal, std::string requestor) {
    return implementation_->remove(name, removal, std::move(requestor));
}

void NodeService::on_forced_removal(std::function<void(const std::string& node)> remove_instances) {
    implementation_->on_forced_removal(std::move(remove_instances));
}

Json NodeService::describe(const Node& node) const {
    return implementation_->describe(node);
}

void NodeService::check_wanted(std::string_view node) const {
    const auto found = implementation_->get(node);
    if (found->status != NodeStatus::online || found->unschedulable)
        throw Error(ErrorCode::invalid_argument,
                    "scheduling on node " + found->name + " not allowed: it is " +
                        (found->unschedulable ? "unschedulable" : std::string(to_text(found->status))));
}

std::shared_ptr<const Node> NodeService::get(std::string_view name) const {
    return implementation_->get(name);
}

std::vector<std::shared_ptr<const Node>> NodeService::list() const {
    return implementation_->list();
}

std::string NodeService::etag(const Node& node) const {
    return sha256_hex(etag_text(node));
}

const std::string& NodeService::local_name() const {
    return implementation_->local_name();
}

}  // namespace svc
