#include "libsvc/services/instances/pool/pool_keeper.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/instances/pool/pool_match.h"

namespace svc {

namespace {

InstanceCreate plain_launch(const std::string& application) {
    InstanceCreate request;
    request.app_id = application;
    return request;
}

bool is_coming_up(InstanceStatus status) {
    return status == InstanceStatus::created || status == InstanceStatus::prepared || may_be_up(status);
}

}  // namespace

// Also of applications that have no pool any more, or are gone.
void PoolKeeper::keep() {
    const std::lock_guard lock(keeping_);
    Pools pools = wanted_pools();
    if (!pools.empty() || may_have_members_) add_members(pools);
    for (const auto& [application, members] : pools) keep_pool(application, members);
    parts_.pace.forget_all_but([&](const std::string& id) { return pools.contains(id); });
}

PoolKeeper::Pools PoolKeeper::wanted_pools() const {
    Pools pools;
    for (const auto& application : parts_.sources.applications.list())
        if (!application->pool.empty()) pools[application->id.str()];
    return pools;
}

void PoolKeeper::add_members(Pools& pools) {
    may_have_members_ = !pools.empty();
    for (const auto& instance : parts_.instances.list()) {
        if (!instance->pooled) continue;
        pools[*instance->app_id].push_back(instance);
        may_have_members_ = true;
    }
}

// What goes gives its room back first: where a pool fills a machine, the next ones need it.
void PoolKeeper::keep_pool(const std::string& application, const Members& members) {
    const auto record = parts_.sources.applications.find(application);
    const auto model = model_of(application);
    const auto most = static_cast<int>(parts_.config.values().number("application.max_pool_size"));
    int left = record && model ? parts_.pace.size_now(application, record->pool, most) : 0;
    Members by_progress = members;  // those that run stay
    std::ranges::stable_sort(by_progress, std::ranges::greater{}, &Instance::status);
    bool going = false;
    for (const InstancePtr& member : by_progress) {
        const bool stays = left > 0 && is_sound(*member, model);
        if (stays)
            --left;
        else if (member->status != InstanceStatus::deleted)
            take_out(*member);
        going = going || !stays;
    }
    while (!going && left > 0 && parts_.pace.may_launch(application) && launch(application, *model)) --left;
}

// What a launch without wishes would make now. Nothing: no version can be launched.
std::optional<Instance> PoolKeeper::model_of(const std::string& application) const try {
    Instance model =
        find_launch_source(plain_launch(application), parts_.sources, parts_.config.values()).instance;
    model.pooled = true;
    return model;
} catch (const Error&) {
    return std::nullopt;
}

bool PoolKeeper::is_sound(const Instance& member, const std::optional<Instance>& model) const {
    const bool placed_well = member.node.empty() || parts_.nodes.takes_instances(*member.node);
    return model && placed_well && is_coming_up(member.status) && !member.stop_requested &&
           is_made_like(member, *model);
}

void PoolKeeper::take_out(const Instance& member) const try {
    parts_.calls.remove(member.id.str());
    if (member.status == InstanceStatus::error) tell_failure(*member.app_id, *member.error_message);
} catch (const Error& e) {
    log::info("pooled container stays for now", {{"container", member.id.str()}, {"reason", e.what()}});
}

// False: not now.
bool PoolKeeper::launch(const std::string& application, const Instance& model) try {
    const Started started = parts_.calls.launch(model);
    parts_.engine.when_final(started->id.str(), std::nullopt, [this, application](const Started& last) {
        if (is_final(last->status)) launch_ended(application, last);
    });
    return true;
} catch (const Error& e) {
    tell_failure(application, e.what());
    return false;
}

// Of one that has left a record the next run tells; a cancelled one was removed before it ran.
void PoolKeeper::launch_ended(const std::string& application, const Started& last) const {
    const bool is_there = parts_.instances.find(InstanceWork::of(*last).instance) != nullptr;
    if (last->status == OperationStatus::failure && !is_there) tell_failure(application, last->err);
}

void PoolKeeper::tell_failure(const std::string& application, const std::string& reason) const {
    const Duration pause = parts_.pace.note_failure(application);
    log::warning(
        "container for the pool of an application cannot be launched",
        {{"application", application}, {"error", reason}, {"next attempt in", format_duration(pause)}});
    parts_.events.publish(EventType::lifecycle, Json::object({{"action", "application-pool-failed"},
                                                              {"source", "/1.0/applications/" + application},
                                                              {"error", reason}}));
}

}  // namespace svc
