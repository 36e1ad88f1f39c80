#include "libsvc/services/instances/pool/pool_room.h"

#include <map>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

using Group = std::vector<InstancePtr>;

// One that failed holds its disk alone, and goes soon by itself.
bool holds_room(const Instance& instance) {
    return instance.pooled && !instance.node.empty() &&
           (instance.status == InstanceStatus::prepared || may_be_up(instance.status));
}

std::map<std::string, Group> groups_by_node(const Instances& instances, const Instance& wanted) {
    std::map<std::string, Group> groups;
    for (const auto& instance : instances.list()) {
        const bool elsewhere = !wanted.wanted_node.empty() && wanted.wanted_node != instance->node;
        if (holds_room(*instance) && !elsewhere) groups[*instance->node].push_back(instance);
    }
    return groups;
}

}  // namespace

// The first ones of the group behind which there is room. None: the whole group is not enough, or something
// else is missing there.
PoolRoom::Group PoolRoom::enough_of(const Group& group, const Instance& wanted) const {
    Group chosen;
    for (const InstancePtr& instance : group) {
        chosen.push_back(instance);
        if (nodes_.would_fit(wanted, *instance->node, chosen)) return chosen;
    }
    return {};
}

// On the node where the fewest go.
PoolRoom::Group PoolRoom::choose_for(const Instance& wanted) const {
    Group chosen;
    for (const auto& [node, group] : groups_by_node(instances_, wanted)) {
        Group enough = enough_of(group, wanted);
        if (enough.empty() || (!chosen.empty() && enough.size() >= chosen.size())) continue;
        chosen = std::move(enough);
    }
    return chosen;
}

std::vector<std::string> PoolRoom::make_for(const Instance& wanted) const {
    std::vector<std::string> claims;
    for (const InstancePtr& instance : choose_for(wanted)) try {
            const std::string& id = instance->id.str();
            remove_(id);
            claims.push_back(instance_claim(id));
            pace_.note_yield(*instance->app_id);
            log::info("pooled container makes room",
                      {{"container", id}, {"application", *instance->app_name}});
        } catch (const Error& e) {
            if (e.code() != ErrorCode::busy && e.code() != ErrorCode::not_found) throw;
        }
    return claims;
}

}  // namespace svc
