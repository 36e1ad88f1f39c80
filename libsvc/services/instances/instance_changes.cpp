#include "libsvc/services/instances/instance_changes.h"

#include <map>
#include <memory>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

OperationResult InstanceChanges::transition(const std::string& id, std::function<bool(Instance&)> change,
                                            std::string_view action, const std::string& requestor,
                                            std::function<void()> then) {
    const auto applied = std::make_shared<bool>(false);
    OperationResult result;
    result.stage = [this, id, applied, change = std::move(change)](Batch& last) {
        *applied = false;
        if (!instances_.find(id)) return;
        bool applies = false;
        Batch changed;
        instances_.stage_update(changed, id, [&](Instance& instance) { applies = change(instance); });
        if (applies) last.append(std::move(changed));
        *applied = applies;
    };
    result.after = [this, id, applied, action = std::string(action), requestor, then = std::move(then)] {
        if (!*applied) return;
        if (!action.empty()) publish(action, id, requestor);
        if (then) then();
    };
    return result;
}

void InstanceChanges::publish(std::string_view action, const std::string& id,
                              const std::string& requestor) const {
    Json event = Json::object({{"action", action}, {"source", "/1.0/containers/" + id}});
    if (!requestor.empty()) event.set("requestor", requestor);
    events_.publish(EventType::lifecycle, event);
}

void InstanceChanges::will_announce(const Instance& instance) {
    unannounced_.with([&](auto& all) { all.emplace(instance.id.str(), instance.status); });
}

void InstanceChanges::announce(const std::string& id, const std::string& requestor) {
    // Under the lock, so that the second caller goes on only when the event is out.
    unannounced_.with([&](auto& all) {
        const auto found = all.extract(id);
        if (found.empty()) return;
        publish("container-created", id, requestor);
        if (found.mapped() == InstanceStatus::prepared) publish("container-scheduled", id, requestor);
    });
}

void InstanceChanges::cancel_announcement(const std::string& id) {
    unannounced_.with([&](auto& all) { all.erase(id); });
}

void InstanceChanges::on_application_released(Released listener) {
    released_.with([&](auto& current) { current = std::move(listener); });
}

void InstanceChanges::tell_released(const Instance& instance) const {
    if (instance.app_id.empty()) return;
    const auto listener = released_.with([](const auto& current) { return current; });
    if (listener) listener(instance.app_id, instance.app_version);
}

void InstanceChanges::follow_public_addresses(const NodeService& nodes) {
    std::map<std::string, std::string> addresses;
    for (const auto& node : nodes.list()) addresses[node->name] = node->public_address;
    for (const auto& instance : instances_.list()) {
        const auto found = addresses.find(*instance->node);
        if (found == addresses.end() || found->second.empty() || instance->public_address->empty() ||
            *instance->public_address == found->second)
            continue;
        try {
            instances_.update(instance->id.str(), [&](Instance& changed) {
                if (*changed.node == found->first && !changed.public_address->empty())
                    changed.public_address = found->second;
            });
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;  // it is gone
        }
    }
}

void set_reservation(Instance& instance, const Reservation& reservation) {
    instance.node = reservation.node;
    instance.address = reservation.address;
    instance.public_address = reservation.public_address;
    instance.services = reservation.services;
    instance.gpu_encoder_slots = reservation.gpu_encoder_slots;
    instance.gpus = reservation.gpus;
}

void clear_reservation(Instance& instance) {
    instance.address.clear();
    for (ServiceEntry& service : instance.services) service.node_port = service.node_port_end = 0;
    instance.gpus.clear();
    instance.gpu_encoder_slots = 0;
}

}  // namespace svc
