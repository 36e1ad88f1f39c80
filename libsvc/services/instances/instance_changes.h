#pragma once
// How the records of instances change at the end of operations, and what is told of it: lifecycle events, and
// the listener that follows the use of applications.
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "libsvc/base/guarded.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/nodes/node_reservations.h"

namespace svc {

class NodeService;

// Thread-safe.
class InstanceChanges {
  public:
    InstanceChanges(Instances& instances, EventBus& events) : instances_(instances), events_(events) {}

    // Changes the record in the commit that ends an operation, and publishes `action` ("": no event) after
    // it. `change` returns whether it applies: another operation may have moved the record on. `then` runs
    // after the event when it did.
    OperationResult transition(const std::string& id, std::function<bool(Instance&)> change,
                               std::string_view action, const std::string& requestor,
                               std::function<void()> then = {});
    void publish(std::string_view action, const std::string& id, const std::string& requestor) const;

    // The event `container-created`, and `container-scheduled` of one that is `prepared` at once, come once:
    // from the request, after its commit, or from the operation that it started, whichever is first.
    // will_announce() goes before the commit.
    void will_announce(const Instance& instance);
    void announce(const std::string& id, const std::string& requestor);
    void cancel_announcement(const std::string& id);

    // Records of placed instances tell the public address that their node has now.
    void follow_public_addresses(const NodeService& nodes);

    // The listener is called after an instance is removed, stopped or failed; from any thread. Set once.
    using Released = std::function<void(const std::string& app_id, int version)>;
    void on_application_released(Released listener);
    void tell_released(const Instance& instance) const;

  private:
    Instances& instances_;
    EventBus& events_;
    Guarded<std::map<std::string, InstanceStatus>> unannounced_;
    Guarded<Released> released_;
};

void set_reservation(Instance& instance, const Reservation& reservation);
// Address, ports and GPUs may be another instance's from now on.
void clear_reservation(Instance& instance);

}  // namespace svc
