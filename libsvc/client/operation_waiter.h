#pragma once
// Follows background operations to their end.
#include <functional>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/client/api_client.h"
#include "libsvc/client/event_stream.h"

namespace svc {

struct OperationWaitOptions {
    std::optional<Duration> timeout;  // nothing: wait as long as it takes
    // Asked about ten times a second; from the first `true` on the operation is being cancelled. May be
    // empty.
    std::function<bool()> cancel_requested;
    std::function<void(const Json& operation)> on_update;  // each record seen. May be empty
    Duration cancel_grace = std::chrono::seconds(30);      // for a cancelled operation to end
    Duration reconnect_grace = std::chrono::seconds(15);   // for a service that went away to come back
};

// One thread. Make it before the request that starts the operation: it subscribes to the service's events, so
// that no update is missed. Where there are no events it asks /wait instead; a service that restarts is asked
// again.
class OperationWaiter {
  public:
    explicit OperationWaiter(ApiClient& client);

    // The final record, whatever its status is (see require_success). Throws
    //  - `cancelled` "Operation timeout" when the time was over; the operation has been cancelled then, if it
    //  can be;
    //  - the service's refusal when a requested cancel is not possible (the operation goes on);
    //  - `unavailable` when the service is gone for longer than the grace.
    Json wait(const std::string& id, const OperationWaitOptions& options = {});

  private:
    struct Progress;
    std::optional<Json> next_record(const std::string& id, Progress& progress);
    std::optional<Json> next_event(const std::string& id);
    void act_on_limits(const std::string& id, Progress& progress);

    ApiClient& client_;
    SystemClock clock_;
    std::optional<EventStream> events_;
};

}  // namespace svc
