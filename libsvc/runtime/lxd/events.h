#pragma once
// LXD's lifecycle events. They are only a reason to look: their order is not kept, and none is sent again.
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/net/client/target.h"

namespace svc::lxd {

// Calls `look` with the name of an instance that has changed, and with "" after each connect: whatever
// happened before is unknown. On its own thread, which connects again when LXD goes, or `look` throws an
// Error.
class EventFeed {
  public:
    // `member`: of a cluster, whose events alone count; "" without a cluster.
    EventFeed(Target target, std::string member, Clock& clock,
              std::function<void(const std::string& name)> look);
    ~EventFeed();

  private:
    void run(const std::stop_token& stop);
    void follow(const std::stop_token& stop);

    const Target target_;
    const std::string member_;
    Clock& clock_;
    const std::function<void(const std::string&)> look_;
    Guarded<int> socket_{-1};  // to be shut down
    std::jthread thread_;      // last: uses all above
};

}  // namespace svc::lxd
