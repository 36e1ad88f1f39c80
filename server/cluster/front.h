#pragma once
// One manager of several at the side of HTTP: passes on what needs the leader, takes what others pass on, and
// becomes the leader.
#include <functional>
#include <memory>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/metrics.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/net/server/server.h"
#include "server/cluster/candidacy.h"
#include "server/cluster/event_follower.h"
#include "server/cluster/forwarded_requests.h"
#include "server/cluster/forwarder.h"
#include "server/cluster/leadership.h"
#include "server/cluster/pace_exchange.h"
#include "server/login/authenticate.h"

namespace svc::server {

// What the leader numbers, each row by itself.
struct EventRows {
    EventBus& events;
    EventBus& audit;
};

struct FrontParts {
    Candidacy& candidacy;
    Leadership& leadership;
    EventRows rows;
    Clock& clock;
    MetricsRegistry& metrics;
    const Authenticator& authenticator;
    const BrowserSessionService& sessions;
    Pacer& pacer;                            // counts
    std::function<PeerIdentity()> identity;  // the cluster's; known once the daemon listens
};

// One thread, but for adapt(). What it is given outlives it. Nothing may render the metrics after its end.
class Front {
  public:
    Front(FrontParts parts, Duration patience);  // of requests while nobody leads
    ~Front();
    // Thread-safe. For Middleware: makes the plan of a request that of a follower.
    void adapt(const Request& request, RequestPlan& plan) { forwarder_.adapt(request, plan); }
    // The service that the server calls: `inner`, and what other managers pass on. `inner` outlives it.
    HttpService& before(HttpService& inner);
    std::vector<Route> routes() { return pace_.routes(); }  // what other managers ask of it
    // From now on others reach this manager at `address`, its clients at `api` (Manager), and it may lead.
    // `recover` is called when it does, with the term; then requests are served here, and `begin` is called.
    // Both on a thread of the candidacy.
    void start(const std::string& address, const std::vector<std::string>& api,
               std::function<void(std::uint64_t)> recover, std::function<void()> begin);
    void resign();  // before the service stops
    void stop();

  private:
    bool is_served_here(const Request& request) const;

    FrontParts parts_;
    Forwarder forwarder_;
    std::unique_ptr<ForwardedRequests> forwarded_;
    EventFollower event_follower_, audit_follower_;
    PaceExchange pace_;
};

}  // namespace svc::server
