#pragma once
// The interface of a device (location, camera, ...): it has routes of the control API and ops of the guest
// interface, and owns its state. A device uses another one only when its constructor gets it.
// docs/guest-interface.md, Adding a device.
#include <string>
#include <vector>

#include "instance-agent/agent/guest/guest_session.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// Thread-safe: routes run on a small pool, ops on the guest server's thread, timers on their own.
class Device {
  public:
    virtual ~Device() = default;
    virtual std::vector<Route> routes() = 0;
    virtual GuestFeature guest_feature() = 0;                 // no ops: not offered to guests
    virtual std::vector<std::string> extensions() const = 0;  // API extensions that work now
    // Makes the device's files in the guest's file system again where the guest's boot has hidden them under
    // a mount. Called on any thread.
    virtual void refresh() {}
};

}  // namespace svc::agent
