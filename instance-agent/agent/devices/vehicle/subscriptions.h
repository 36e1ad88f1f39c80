#pragma once
// Which guest sessions subscribe to which properties, and at which rate.
#include <functional>
#include <set>
#include <tuple>

#include "instance-agent/agent/devices/vehicle/property.h"
#include "instance-agent/agent/guest/guest_session.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// The interval at which a continuous property is sent: `asked_rate` (Hz), cut to the property's own range and
// to 1000 Hz.
Duration sample_interval(const PropertyConfig& config, double asked_rate);

// One thread at a time.
class Subscriptions {
  public:
    static constexpr std::size_t max_per_session = 2048;
    using Place = std::pair<PropertyId, AreaId>;

    // An `interval` of zero means: at each change. Replaces the session's older subscription to this place.
    void add(const GuestSessionPtr& session, Place place, Duration interval, SteadyTime now);
    void remove(std::uint64_t session);
    void remove(std::uint64_t session, PropertyId prop);
    std::size_t count(std::uint64_t session) const;

    std::vector<GuestSessionPtr> told_of_changes(Place place) const;
    std::vector<Place> places_told_of_changes() const;
    // The time of the next event; nothing: none is scheduled.
    std::optional<SteadyTime> next_due() const;
    // The events that are due now. Missed ones are skipped.
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
    std::set<Due> schedule_;  // for continuous properties
};

}  // namespace svc::agent
