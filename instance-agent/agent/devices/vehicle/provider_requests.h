#pragma once
// Requests to the provider (the guest that owns the vehicle's properties) that wait for an answer.
#include <functional>

#include "instance-agent/agent/devices/vehicle/property.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc::agent {

// The result of a get or set: the value (for a set: the one that was set), or the error.
struct VehicleOutcome {
    PropertyValue value;
    std::exception_ptr error;
};
using VehicleDone = std::function<void(VehicleOutcome)>;

// One thread at a time. Calls no callback: it returns the requests whose callbacks are due.
class ProviderRequests {
  public:
    static constexpr std::size_t max_pending = 32;
    static constexpr std::chrono::seconds limit{1};

    struct Pending {
        bool is_set = false;
        PropertyValue value;  // property and area; for a set also the value
        SteadyTime deadline{};
        VehicleDone done;
    };

    // Returns the id of the request. Throws TRY_AGAIN when max_pending requests wait.
    std::uint64_t add(Pending pending);
    // Removes a request. Nothing: the id is unknown, answered or expired.
    std::optional<Pending> take(std::uint64_t id);
    std::vector<Pending> take_expired(SteadyTime now);
    std::vector<Pending> take_all();
    std::optional<SteadyTime> next_deadline() const;

  private:
    std::map<std::uint64_t, Pending> pending_;
    std::uint64_t last_id_ = 0;
};

// {"event":"vhal.request",...} for the provider.
Json request_event(std::uint64_t id, const ProviderRequests::Pending& pending, const PropertyValues& with);

}  // namespace svc::agent
