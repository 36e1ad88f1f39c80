#pragma once
// The leader's events at a follower, with the leader's numbers.
#include <atomic>
#include <functional>
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/base/metrics.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/events/event_bus.h"
#include "server/cluster/leadership.h"

namespace svc::server {

// Has a thread that reads the leader's stream of events, whoever leads, until this manager does. Nothing may
// render the metrics after its end.
class EventFollower {
  public:
    // What it is given outlives it. `identity` is that of the cluster.
    EventFollower(EventBus& events, const Leadership& leadership, Clock& clock, MetricsRegistry& metrics,
                  std::function<PeerIdentity()> identity);
    ~EventFollower();  // stop()
    void start();
    void stop();

  private:
    void run(const std::stop_token& stop);
    void read(const LeadingManager& leader, const std::stop_token& stop);
    void take(const std::string& text);

    EventBus& events_;
    const Leadership& leadership_;
    Clock& clock_;
    std::atomic<double> lag_{0};
    const std::function<PeerIdentity()> identity_;
    std::jthread thread_;
};

}  // namespace svc::server
