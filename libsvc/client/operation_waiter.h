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
    std::optional<Duration> timeout;  // nothing: waits without a limit
    // Called about ten times a second; the first `true` cancels the operation. May be empty.
    std::function<bool()> cancel_requested;
    std::function<void(const Json& operation)> on_update;  // each record seen. May be empty
    Duration cancel_grace = std::chrono::seconds(30);      // for a cancelled operation to end
    Duration reconnect_grace = std::chrono::seconds(15);   // for a service that restarts
};

// One thread. Make it before the request that starts the operation: the constructor subscribes to the events
// of the service, so that no update is missed. Without events it calls /wait instead. When the service
// restarts, it connects again.
class OperationWaiter {
  public:
    explicit OperationWaiter(ApiClient& client);

    // Returns the final record, whatever its status is (see require_success). Throws
    //   - `cancelled` "Operation timeout" after the timeout; the operation is then cancelled, if it can be;
    //   - the service's refusal when a requested cancel is not possible (the operation goes on);
    //   - `unavailable` when the service is gone for longer than the grace.
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
