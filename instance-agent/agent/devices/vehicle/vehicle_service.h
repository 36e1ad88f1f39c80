#pragma once
// The vehicle's properties for all clients: those of the agent's own table or, while a provider is attached,
// those of that guest.
#include <functional>
#include <mutex>

#include "instance-agent/agent/devices/vehicle/property_table.h"
#include "instance-agent/agent/devices/vehicle/provider_requests.h"
#include "instance-agent/agent/devices/vehicle/subscriptions.h"
#include "libsvc/base/timer.h"

namespace svc::agent {

// Thread-safe; never waits for a guest. Errors carry the texts of the API (docs/vehicle.md).
class VehicleService {
  public:
    using BootTime = std::function<std::int64_t()>;  // nanoseconds since boot

    // The answer to a get or set: at once, or later by a provider. The caller calls `later` once; it calls
    // back once, on any thread, within a second. It does not throw.
    struct Answer {
        std::optional<PropertyValue> now;
        std::function<void(VehicleDone)> later;
    };
    struct Wish {
        PropertyId prop = 0;
        std::vector<AreaId> areas{};  // empty: all areas
        double rate = 0;              // Hz
    };

    // Without a table every request fails with "VHAL is not available" until a provider attaches.
    VehicleService(std::optional<PropertyTable> own, Clock& clock, BootTime boot_time);

    std::vector<PropertyConfig> configs() const;
    std::vector<PropertyConfig> configs(const std::vector<PropertyId>& props) const;
    // `asker`: null for the control API. `with`: see PropertyTable::get.
    Answer get(const GuestSessionPtr& asker, PropertyId prop, AreaId area, const PropertyValues& with);
    // Sets the timestamp. Called by the provider itself, it means: the value has changed.
    Answer set(const GuestSessionPtr& asker, PropertyValue value);

    void subscribe(const GuestSessionPtr& session,
                   const std::vector<Wish>& wishes);  // all or, on an error, none
    void unsubscribe(const GuestSessionPtr& session, const std::vector<PropertyId>& props);

    // Makes `session` the provider. Throws busy when another session is.
    void provide(const GuestSessionPtr& session, std::vector<PropertyConfig> configs);
    // Takes the provider's answer to a request. Throws for an unknown or expired request.
    void reply(const GuestSessionPtr& session, std::uint64_t request, std::int64_t status, const Json* value);
    void closed(const GuestSessionPtr& session);

  private:
    using Pending = ProviderRequests::Pending;

    // These are called under the lock.
    PropertyTable& table();
    const PropertyTable& table() const;
    bool is_provider(const GuestSessionPtr& session) const;
    bool answers_here(const GuestSessionPtr& asker) const;
    PropertyValue answer_here(const Pending& request, const PropertyValues& with);
    PropertyValue store(PropertyValue value);
    PropertyValue take_reply(Pending& request, const Json* value);
    void tell(const GuestSessionPtr& session, const PropertyValue& value) const;
    void tell_all();
    void send_sample(Subscriptions::Place place, const GuestSessionPtr& session) const;
    void arm();

    void forward(Pending request, const PropertyValues& with);
    void tick();

    Clock& clock_;
    const BootTime boot_time_;
    mutable std::mutex mutex_;
    std::optional<PropertyTable> own_;
    std::optional<PropertyTable> provided_;  // the provider's properties and their last values
    GuestSessionPtr provider_;
    ProviderRequests requests_;
    Subscriptions subscriptions_;
    SteadyTime armed_for_ = SteadyTime::max();
    Timer::Ticket ticket_ = 0;
    Timer timer_;  // last member: ends first
};

}  // namespace svc::agent
