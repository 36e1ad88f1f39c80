#include "instance-agent/agent/devices/vehicle/provider_requests.h"

#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "instance-agent/agent/devices/vehicle/status_code.h"

namespace svc::agent {

std::uint64_t ProviderRequests::add(Pending pending) {
    if (pending_.size() >= max_pending) throw_status(StatusCode::try_again);
    pending_.emplace(++last_id_, std::move(pending));
    return last_id_;
}

std::optional<ProviderRequests::Pending> ProviderRequests::take(std::uint64_t id) {
    auto node = pending_.extract(id);
    if (!node) return std::nullopt;
    return std::move(node.mapped());
}

// Deadlines grow with ids, so the first request that is not due ends the search.
std::vector<ProviderRequests::Pending> ProviderRequests::take_expired(SteadyTime now) {
    std::vector<Pending> expired;
    while (!pending_.empty() && pending_.begin()->second.deadline <= now)
        expired.push_back(std::move(pending_.extract(pending_.begin()).mapped()));
    return expired;
}

std::vector<ProviderRequests::Pending> ProviderRequests::take_all() {
    std::vector<Pending> all;
    for (auto& [id, pending] : pending_) all.push_back(std::move(pending));
    pending_.clear();
    return all;
}

std::optional<SteadyTime> ProviderRequests::next_deadline() const {
    return pending_.empty() ? std::nullopt : std::optional(pending_.begin()->second.deadline);
}

Json request_event(std::uint64_t id, const ProviderRequests::Pending& pending, const PropertyValues& with) {
    PropertyValue value = pending.value;
    if (!pending.is_set) value.values = with;
    Json event =
        Json::object({{"event", "vhal.request"}, {"id", id}, {"op", pending.is_set ? "set" : "get"}});
    const Json fields = to_json(value);
    for (const auto& [key, field] : fields.as_object()) event.set(key, field);
    event.erase("timestamp");
    return event;
}

}  // namespace svc::agent
