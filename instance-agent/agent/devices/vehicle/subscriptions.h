#pragma once
// Which guests are told of which properties, and how often.
#include <functional>
#include <set>
#include <tuple>

#include "instance-agent/agent/devices/vehicle/property.h"
#include "instance-agent/agent/guest/guest_server.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// How often a continuous property is sent: the asked rate within the property's own range, at most 1000 Hz.
Duration sample_interval(const PropertyConfig& config, double asked_rate);

// One thread at a time.
class Subscriptions {
  public:
    static constexpr std::size_t max_per_session = 2048;
    using Place = std::pair<PropertyId, AreaId>;

    // `interval` of zero: at each change. Replaces what the session had for this place.
    void add(const GuestSessionPtr& session, Place place, Duration interval, SteadyTime now);
    void remove(std::uint64_t session);
    void remove(std::uint64_t session, PropertyId prop);
    std::size_t count(std::uint64_t session) const;

    std::vector<GuestSessionPtr> told_of_changes(Place place) const;
    std::vector<Place> places_told_of_changes() const;
    // When something is to be sent next; nothing: never.
    std::optional<SteadyTime> next_due() const;
    // What is to be sent now. Sending that has fallen behind is not made up for.
    std::vector<std::pair<Place, GuestSessionPtr>> take_due(SteadyTime now);

  private:
    struct Entry {
        GuestSessionPtr session;
        Duration interval{};
        SteadyTime next{};
    };
    using Due = std::tuple<SteadyTime, Place, std::uint64_t>;
    void remove_if(std::uint64_t session, const std::function<bool(Place)>& which);

    std::map<Place, std::map<std::uint64_t, Entry>> entries_;
    std::set<Due> schedule_;  // of the continuous ones
};

}  // namespace svc::agent
