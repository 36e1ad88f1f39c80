#include "libsvc/services/instances/end/instance_expiry.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr Duration pause_after_attempt = std::chrono::minutes(1);

bool same_limits(const Lifetime& one, const Lifetime& other) {
    return one.expires_at == other.expires_at && one.idle_after == other.idle_after;
}

bool is_of_interest(const Instance& before, const Instance& after) {
    return !same_limits(before.lifetime, after.lifetime) ||
           before.config->delete_protected != after.config->delete_protected;
}

}  // namespace

void check_limits(const Instance& instance, const Lifetime& over) {
    if (!same_limits(instance.lifetime, over))
        throw Error(ErrorCode::precondition_failed, "the limits of the container have changed");
}

// The listener comes first: what it has seen is newer than what is read here.
InstanceExpiry::InstanceExpiry(InstanceExpiryParts parts)
    : parts_(std::move(parts)), timer_(parts_.clock, "expiry") {
    parts_.changes.set([this](const Instance* before, const Instance* after) { changed(before, after); });
    parts_.uses.on_use([this](const std::string& id) { used(id); });
    for (const auto& instance : parts_.instances.list())
        if (instance->lifetime.is_limited()) follow(*instance, true);
}

// Whoever tells of a change or a use is gone before the timer goes.
InstanceExpiry::~InstanceExpiry() {
    parts_.changes.set(nullptr);
    parts_.uses.on_use(nullptr);
}

void InstanceExpiry::changed(const Instance* before, const Instance* after) {
    if (after == nullptr || !after->lifetime.is_limited()) {
        if (before != nullptr && before->lifetime.is_limited()) forget(before->id.str());
    } else if (before == nullptr || is_of_interest(*before, *after)) {
        follow(*after);
    }
}

void InstanceExpiry::follow(const Instance& instance, bool unless_known) {
    const std::string& id = instance.id.str();
    const Lifetime& its = instance.lifetime;
    limits_.with([&](All& all) {
        const auto [found, is_new] = all.try_emplace(id);
        if (!is_new && unless_known) return;
        Limits& limits = found->second;
        const SteadyTime now = parts_.clock.steady_now();
        if (its.expires_at != limits.its.expires_at)
            limits.expires = now + (its.expires_at - parts_.clock.now());
        if (its.idle_after != limits.its.idle_after) follow_uses(id, limits, its.idle_after);
        limits.its = its;
        limits.told.clear();
        wait(id, limits);
    });
}

// The record has a use of now.
void InstanceExpiry::follow_uses(const std::string& id, Limits& limits, Duration idle_after) {
    limits.stored_use = parts_.clock.steady_now();
    idle_after == Duration::zero() ? parts_.uses.forget(id) : parts_.uses.follow(id);
}

// What was known may be older than the record. The listener may know a newer one by the time that this one is
// followed.
void InstanceExpiry::take_up_anew(const std::string& id) {
    forget(id);
    const auto instance = parts_.instances.find(id);
    if (instance && instance->lifetime.is_limited()) follow(*instance, true);
}

void InstanceExpiry::forget(const std::string& id) {
    limits_.with([&](All& all) {
        const auto found = all.find(id);
        if (found == all.end()) return;
        timer_.cancel(found->second.ticket);
        all.erase(found);
        parts_.uses.forget(id);
    });
}

void InstanceExpiry::wait(const std::string& id, Limits& limits, Duration at_least) {
    timer_.cancel(limits.ticket);
    const Duration left = due(id, limits) - parts_.clock.steady_now();
    limits.ticket = timer_.after(std::max(left, at_least), [this, id] { look(id); });
}

SteadyTime InstanceExpiry::due(const std::string& id, const Limits& limits) const {
    SteadyTime first = limits.its.expires_at == Time{} ? SteadyTime::max() : limits.expires;
    if (const auto last = parts_.uses.last(id)) first = std::min(first, *last + limits.its.idle_after);
    return first;
}

// One that is used without an end is told of here alone.
void InstanceExpiry::look(const std::string& id) {
    ++looks_;
    const auto ended = over(id);
    ended ? remove(id, *ended) : used(id);
}

// Which limit is over. Nothing: none, as it was used meanwhile. It waits on in any case: a deletion may fail.
std::optional<InstanceExpiry::Over> InstanceExpiry::over(const std::string& id) {
    return limits_.with([&](All& all) -> std::optional<Over> {
        const auto found = all.find(id);
        if (found == all.end()) return std::nullopt;
        Limits& limits = found->second;
        const SteadyTime now = parts_.clock.steady_now();
        const bool is_over = due(id, limits) <= now;
        wait(id, limits, is_over ? pause_after_attempt : Duration::zero());
        if (!is_over) return std::nullopt;
        const bool has_expired = limits.its.expires_at != Time{} && limits.expires <= now;
        return Over{has_expired ? requestor_expired : requestor_idle, limits.its};
    });
}

void InstanceExpiry::remove(const std::string& id, const Over& over) {
    try {
        const std::string operation = parts_.remove(id, over.requestor, over.limits);
        log::info("container is deleted by itself", {{"container", id}, {"reason", over.requestor}});
        if (parts_.deleted) parts_.deleted({id, over.requestor, operation});
    } catch (const Error& e) {
        refused(id, over.requestor, e);
    }
}

// `busy`: it is being deleted already.
void InstanceExpiry::refused(const std::string& id, const char* requestor, const Error& error) {
    if (error.code() == ErrorCode::not_found || error.code() == ErrorCode::precondition_failed)
        return take_up_anew(id);
    if (error.code() == ErrorCode::busy) return;
    const bool is_new = limits_.with([&](All& all) {
        const auto found = all.find(id);
        return found != all.end() && std::exchange(found->second.told, error.what()) != error.what();
    });
    if (is_new)
        log::warning("container stays although its time is over",
                     {{"container", id}, {"reason", requestor}, {"error", error.what()}});
}

void InstanceExpiry::used(const std::string& id) {
    limits_.with([&](All& all) {
        const auto found = all.find(id);
        const auto last = parts_.uses.last(id);
        if (found == all.end() || !last) return;
        if (*last - found->second.stored_use < found->second.its.idle_after / 4) return;
        found->second.stored_use = *last;
        timer_.after(Duration::zero(), [this, id] { store_use(id); });
    });
}

// What cannot be stored is stored with a later use.
void InstanceExpiry::store_use(const std::string& id) {
    const auto last = parts_.uses.last(id);
    if (!last) return;
    const Time used_at = parts_.clock.now() - (parts_.clock.steady_now() - *last);
    try {
        parts_.instances.update(id, [used_at](Instance& instance) {
            if (instance.lifetime.idle_after != Duration::zero()) instance.lifetime.used_at = used_at;
        });
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found) return;
        log::warning("the use of a container cannot be stored", {{"container", id}, {"error", e.what()}});
    }
}

}  // namespace svc
