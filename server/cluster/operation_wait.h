#pragma once
// Waiting for an operation at a follower: no thread and no connection to the leader is held meanwhile.
#include <functional>
#include <memory>

#include "libsvc/base/timer.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/net/http/response.h"

namespace svc::server {

// Asks the leader, and answers at any time on any thread.
using AskLeader = std::function<void(std::shared_ptr<Request>, Responder)>;

struct OperationWaitParts {
    EventBus& events;
    Clock& clock;
    Timer& timer;
    AskLeader ask;
};

// The answer to GET /1.0/operations/{id}/wait: the record as the leader shows it, asked for again when an
// event tells of its end, and each few seconds. Throws invalid_argument for the request's timeout. `parts`
// outlive it.
Response wait_at_follower(const OperationWaitParts& parts, const Request& request);

}  // namespace svc::server
