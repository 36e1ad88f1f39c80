#pragma once
// What the agent is made of beside its life with the guest: each device has routes of the control API and ops
// of the guest interface, and owns its state. Devices know of each other only what their constructors are
// given.
#include <string>
#include <vector>

#include "instance-agent/agent/guest/guest_server.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// Thread-safe: routes run on a small pool, ops on the guest server's thread, timers on their own.
class Device {
  public:
    virtual ~Device() = default;
    virtual std::vector<Route> routes() = 0;
    virtual GuestFeature guest_feature() = 0;                 // empty ops: none
    virtual std::vector<std::string> extensions() const = 0;  // names for api_extensions that work now
    // Makes anew what it keeps in the guest's file system and the guest's boot has hidden. Any thread.
    virtual void refresh() {}
};

}  // namespace svc::agent
