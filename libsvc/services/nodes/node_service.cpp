#include "libsvc/services/nodes/node_service.h"

#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/nodes/node_operation.h"
#include "libsvc/services/nodes/node_patch.h"

namespace svc {

namespace {

NodeServiceParts with_local_name(NodeServiceParts parts) {
    if (parts.options.local_name.empty()) parts.options.local_name = host_node_name();
    return parts;
}

}  // namespace

NodeService::NodeService(NodeServiceParts parts)
    : parts_(with_local_name(std::move(parts))),
      records_(parts_.nodes, parts_.config),
      reservations_(
          {parts_.nodes, records_, parts_.config, parts_.options.first_port, parts_.options.last_port}),
      registry_({parts_.store, parts_.nodes, parts_.removed, parts_.runtime, parts_.options}),
      additions_({parts_.nodes, parts_.removed, registry_, parts_.machine_cluster}, parts_.engine,
                 parts_.clock, parts_.options.join_limit, [this] { follow(); }),
      removals_(parts_.nodes, parts_.removed, registry_, reservations_, parts_.engine,
                parts_.machine_cluster) {
    parts_.engine.handle("node.update", {[](OperationContext&) { return OperationResult(); }, nullptr, true});
}

NodeService::~NodeService() {
    stop();
}

void NodeService::recover() {
    follow();
}

void NodeService::listen() {
    follows_ = true;
    parts_.runtime.on_nodes_changed([this] { follow_soon(); });
    follow_soon();  // for what has changed meanwhile
}

void NodeService::follow() {
    const std::lock_guard lock(following_);
    const bool changed = registry_.follow(listener_.returning);
    additions_.look();
    if (changed && listener_.changed) listener_.changed();
}

// When one waits already it will see this change as well.
void NodeService::follow_soon() {
    (void)thread_.post([this] {
        try {
            follow();
        } catch (const Error& e) {  // the periodic job tries again
            log::error("records of nodes cannot be brought up to date", {{"error", e.what()}});
        }
    });
}

void NodeService::stop() {
    if (std::exchange(follows_, false)) parts_.runtime.on_nodes_changed({});
    thread_.stop();
}

void NodeService::on_changed(Listener listener) {
    const std::lock_guard lock(following_);
    listener_ = std::move(listener);
}

// The change commits with the operation's record, which has nothing left to do.
Started NodeService::patch(std::string_view name, const NodePatch& patch, std::string requestor,
                           const Precondition& unchanged) {
    return retry_on_conflict([&] {
        const auto seen = get(name);
        auto spec = node_operation("node.update", "Updating node " + seen->name, *seen, requestor);
        Batch batch;
        parts_.nodes.stage_update(batch, seen->name, [&](Node& node) {
            if (unchanged) unchanged(etag(*records_.as_seen(node)));
            apply_node_patch(patch, *seen, node);
        });
        Started started = parts_.engine.start(std::move(spec), std::move(batch));
        if (const auto now = parts_.nodes.find(name)) warn_of_missing_encoders(*records_.as_seen(*now));
        if (patch.public_address) follow_soon();
        return started;
    });
}

void NodeService::check_wanted(std::string_view node) const {
    const auto found = get(node);
    if (found->status != NodeStatus::online || found->unschedulable)
        throw Error(ErrorCode::invalid_argument,
                    "scheduling on node " + found->name + " not allowed: it is " +
                        (found->unschedulable ? "unschedulable" : std::string(to_text(found->status))));
}

bool NodeService::is_online(std::string_view name) const {
    const auto node = parts_.nodes.find(name);
    return node && node->status == NodeStatus::online;
}

bool NodeService::takes_instances(std::string_view name) const {
    const auto node = parts_.nodes.find(name);
    return node && node->status == NodeStatus::online && !node->unschedulable;
}

bool NodeService::is_within_reach(std::string_view name) const {
    return registry_.machines().is_online(name);
}

Json NodeService::describe(const Node& node) const {
    return to_json(node, reservations_.gpu_allocations(node.name));
}

std::string NodeService::etag(const Node& node) const {
    return sha256_hex(etag_text(node));
}

}  // namespace svc
