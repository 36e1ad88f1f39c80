#pragma once
// The vehicle's properties as everybody sees them: the agent's own table, or the guest that owns them while
// it is attached.
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

    // The answer to a get or set: at once, or by a provider. `later` is called once and calls back once, from
    // any thread, within a second; it does not throw.
    struct Answer {
        std::optional<PropertyValue> now;
        std::function<void(VehicleDone)> later;
    };
    struct Wish {
        PropertyId prop = 0;
        std::vector<AreaId> areas{};  // none: all
        double rate = 0;              // Hz
    };

    // Without a table there are no properties until a provider comes: "VHAL is not available".
    VehicleService(std::optional<PropertyTable> own, Clock& clock, BootTime boot_time);

    std::vector<PropertyConfig> configs() const;
    std::vector<PropertyConfig> configs(const std::vector<PropertyId>& props) const;
    // `asker`: null for the control API. `with`: see PropertyTable::get.
    Answer get(const GuestSessionPtr& asker, PropertyId prop, AreaId area, const PropertyValues& with);
    // The timestamp is made here. Of the provider itself: tells that the value has changed.
    Answer set(const GuestSessionPtr& asker, PropertyValue value);

    void subscribe(const GuestSessionPtr& session, const std::vector<Wish>& wishes);  // all or none
    void unsubscribe(const GuestSessionPtr& session, const std::vector<PropertyId>& props);

    // From now on `session` owns the properties. Throws busy when another one does.
    void provide(const GuestSessionPtr& session, std::vector<PropertyConfig> configs);
    // The provider's answer to a request. Throws for one that is unknown or too late.
    void reply(const GuestSessionPtr& session, std::uint64_t request, std::int64_t status, const Json* value);
    void closed(const GuestSessionPtr& session);

  private:
    using Pending = ProviderRequests::Pending;

    // All below run under the lock.
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
    std::optional<PropertyTable> provided_;  // what the provider has told: its properties, last values
    GuestSessionPtr provider_;
    ProviderRequests requests_;
    Subscriptions subscriptions_;
    SteadyTime armed_for_ = SteadyTime::max();
    Timer::Ticket ticket_ = 0;
    Timer timer_;  // last: ends first
};

}  // namespace svc::agent
