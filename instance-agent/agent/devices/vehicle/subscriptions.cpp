#include "instance-agent/agent/devices/vehicle/subscriptions.h"

#include <algorithm>

namespace svc::agent {

Duration sample_interval(const PropertyConfig& config, double asked_rate) {
    const double low = config.min_rate;
    const double high = config.max_rate;
    double rate = std::clamp(asked_rate, low, std::max(low, high));
    if (rate <= 0) rate = high > 0 ? high : 1;
    rate = std::clamp(rate, 0.001, 1000.0);
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / rate));
}

void Subscriptions::add(const GuestSessionPtr& session, Place place, Duration interval, SteadyTime now) {
    Entry& entry = entries_[place][session->id()];
    if (entry.session) schedule_.erase({entry.next, place, session->id()});
    entry = {session, interval, now};
    if (interval > Duration::zero()) schedule_.insert({entry.next, place, session->id()});
}

void Subscriptions::remove(std::uint64_t session) {
    remove_if(session, [](Place) { return true; });
}

void Subscriptions::remove(std::uint64_t session, PropertyId prop) {
    remove_if(session, [prop](Place place) { return place.first == prop; });
}

void Subscriptions::remove_if(std::uint64_t session, const std::function<bool(Place)>& which) {
    for (auto at = entries_.begin(); at != entries_.end();) {
        auto& [place, sessions] = *at;
        const auto found = sessions.find(session);
        if (found != sessions.end() && which(place)) {
            schedule_.erase({found->second.next, place, session});
            sessions.erase(found);
        }
        at = sessions.empty() ? entries_.erase(at) : std::next(at);
    }
}

std::size_t Subscriptions::count(std::uint64_t session) const {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(),
                      [session](const auto& entry) { return entry.second.contains(session); }));
}

std::vector<GuestSessionPtr> Subscriptions::told_of_changes(Place place) const {
    std::vector<GuestSessionPtr> told;
    const auto found = entries_.find(place);
    if (found == entries_.end()) return told;
    for (const auto& [id, entry] : found->second)
        if (entry.interval == Duration::zero()) told.push_back(entry.session);
    return told;
}

std::vector<Subscriptions::Place> Subscriptions::places_told_of_changes() const {
    std::vector<Place> places;
    for (const auto& [place, sessions] : entries_)
        if (std::any_of(sessions.begin(), sessions.end(),
                        [](const auto& entry) { return entry.second.interval == Duration::zero(); }))
            places.push_back(place);
    return places;
}

std::optional<SteadyTime> Subscriptions::next_due() const {
    if (schedule_.empty()) return std::nullopt;
    return std::get<SteadyTime>(*schedule_.begin());
}

std::vector<std::pair<Subscriptions::Place, GuestSessionPtr>> Subscriptions::take_due(SteadyTime now) {
    std::vector<std::pair<Place, GuestSessionPtr>> due;
    while (!schedule_.empty() && std::get<SteadyTime>(*schedule_.begin()) <= now) {
        const auto [time, place, session] = *schedule_.begin();
        schedule_.erase(schedule_.begin());
        Entry& entry = entries_.at(place).at(session);
        entry.next += entry.interval;
        if (entry.next <= now) entry.next = now + entry.interval;
        schedule_.insert({entry.next, place, session});
        due.emplace_back(place, entry.session);
    }
    return due;
}

}  // namespace svc::agent
