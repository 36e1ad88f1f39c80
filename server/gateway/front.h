#pragma once
// One gateway of several at the side of HTTP: passes on what needs the leader, takes what others pass on, and
// becomes the leader (docs/streaming.md, "Several gateways").
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/metrics.h"
#include "libsvc/cluster/peer.h"
#include "server/cluster/candidacy.h"
#include "server/cluster/forwarded_requests.h"
#include "server/cluster/forwarder.h"
#include "server/cluster/leadership.h"
#include "server/gateway/cors.h"

namespace svc::gateway {

struct FrontParts {
    server::Candidacy& candidacy;
    Clock& clock;
    MetricsRegistry& metrics;
    const Cors& cors;
    std::function<PeerIdentity()> identity;  // of all gateways
    Duration patience;                       // of requests while nobody leads
};

// One thread, but for adapt() and other_gateways(). What it is given outlives it.
class Front {
  public:
    explicit Front(FrontParts parts);
    ~Front();
    Front(const Front&) = delete;
    Front& operator=(const Front&) = delete;

    // Thread-safe. For Middleware: makes the plan of a request that of a follower.
    void adapt(const Request& request, RequestPlan& plan) { forwarder_.adapt(request, plan); }
    // The service that the server calls: `inner`, and what other gateways pass on. `inner` outlives it.
    HttpService& before(HttpService& inner);
    // From now on others reach this gateway at `address`, instances at `instance_url`, and it may lead.
    // `lead` is called when it does, on a thread of the candidacy; then requests are served here.
    void start(const std::string& address, const std::string& instance_url, std::function<void()> lead);
    bool is_gateway(const Peer& peer) const;           // one of these; thread-safe
    bool leads() const { return leadership_.here(); }  // thread-safe
    // Thread-safe; reads memory. "https://192.0.2.11:4000", where instances find the other living gateways.
    std::vector<std::string> other_gateways() const;
    void resign();  // before the services stop
    void stop();

  private:
    FrontParts parts_;
    server::Leadership leadership_;
    server::Forwarder forwarder_;
    std::unique_ptr<server::ForwardedRequests> forwarded_;
};

}  // namespace svc::gateway
