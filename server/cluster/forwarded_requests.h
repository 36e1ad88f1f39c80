#pragma once
// The leader's side of forwarding: what comes by the managers' listener with a client's identity is treated
// as if that client had come to this manager.
#include <functional>

#include "libsvc/net/server/server.h"
#include "libsvc/store/progress.h"
#include "server/cluster/leadership.h"

namespace svc::server {

struct ForwardedRequestsParts {
    HttpService& inner;  // the service proper
    const Leadership& leadership;
    const Progress& progress;
    std::function<bool(const Peer&)> is_member;  // another one of the cluster, on the listener for them
    // In the service's envelope, as its replies to that request are.
    std::function<Response(const Request&, const std::exception&)> failure;
};

// Thread-safe. Stands before the service proper. What it is given outlives it.
class ForwardedRequests final : public HttpService {
  public:
    explicit ForwardedRequests(ForwardedRequestsParts parts);
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;

  private:
    RequestPlan plan_forwarded(Request& request);
    Response with_revision(Response response) const;
    Response not_leader(const Request& request) const;

    const ForwardedRequestsParts parts_;
};

}  // namespace svc::server
