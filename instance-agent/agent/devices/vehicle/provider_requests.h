#pragma once
// What a guest that owns the vehicle's properties has been asked and has not answered yet.
#include <functional>

#include "instance-agent/agent/devices/vehicle/property.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc::agent {

// How a get or set ended: the value (of a set: the one that was set), or the error.
struct VehicleOutcome {
    PropertyValue value;
    std::exception_ptr error;
};
using VehicleDone = std::function<void(VehicleOutcome)>;

// One thread at a time. Does not call anybody back itself: hands out what is to be called.
class ProviderRequests {
  public:
    static constexpr std::size_t max_pending = 32;
    static constexpr std::chrono::seconds limit{1};

    struct Pending {
        bool is_set = false;
        PropertyValue value;  // the place; of a set: what is set
        SteadyTime deadline{};
        VehicleDone done;
    };

    // The id of the request. Throws TRY_AGAIN when too many are pending.
    std::uint64_t add(Pending pending);
    // Takes it out; nothing when it is unknown, answered or too late.
    std::optional<Pending> take(std::uint64_t id);
    std::vector<Pending> take_expired(SteadyTime now);
    std::vector<Pending> take_all();
    std::optional<SteadyTime> next_deadline() const;

  private:
    std::map<std::uint64_t, Pending> pending_;
    std::uint64_t last_id_ = 0;
};

// {"event":"vhal.request",...} as it goes to the provider.
Json request_event(std::uint64_t id, const ProviderRequests::Pending& pending, const PropertyValues& with);

}  // namespace svc::agent
