#pragma once
// The leader's events at a follower, with the leader's numbers.
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/events/event_bus.h"
#include "server/cluster/leadership.h"

namespace svc::server {

struct FollowedEvents {
    EventBus& bus;
    std::string query;  // by which the leader is asked for them: "type=audit&"
};

// Has a thread that reads the leader's stream of events, whoever leads, until this manager does.
class EventFollower {
  public:
    // What it is given outlives it. `identity` is that of the cluster.
    EventFollower(FollowedEvents events, const Leadership& leadership, Clock& clock,
                  std::function<PeerIdentity()> identity);
    ~EventFollower();  // stop()
    void start();
    void stop();
    void render_lag(std::string& out) const;  // as a metric; thread-safe

  private:
    void run(const std::stop_token& stop);
    void read(const LeadingManager& leader, const std::stop_token& stop);
    void take(const std::string& text);

    const FollowedEvents events_;
    const Leadership& leadership_;
    Clock& clock_;
    std::atomic<double> lag_{0};
    const std::function<PeerIdentity()> identity_;
    std::jthread thread_;
};

}  // namespace svc::server
