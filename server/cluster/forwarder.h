#pragma once
// A follower's side of forwarding: requests that need the leader go to it, and its answers to the client.
#include <functional>
#include <memory>
#include <stop_token>

#include "libsvc/base/clock.h"
#include "libsvc/base/metrics.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/net/server/server.h"
#include "libsvc/store/progress.h"
#include "server/cluster/leader_connection.h"
#include "server/cluster/leadership.h"
#include "server/cluster/upload_relay.h"
#include "server/cluster/websocket_relay.h"
#include "server/http/delay_budget.h"
#include "server/http/refusal.h"

namespace svc::server {

// What differs between the services that pass requests on.
struct ForwardedApi {
    std::function<bool(const Request&)> is_local_read;  // see local_reads.h
    // In the service's envelope, as its replies to that request are.
    std::function<Response(const Request&, const std::exception&)> failure;
    std::string member = "manager";      // what its processes are called
    std::string metric = "svc_manager";  // their metrics begin with it
    std::function<bool(const Request&)> waits_long =
        nullptr;  // few of them are passed on at once; null: none
};

struct ForwarderParts {
    const Leadership& leadership;
    Progress& progress;
    EventBus* events;  // of this manager; null: it has no operations
    Clock& clock;
    MetricsRegistry& metrics;
    std::function<PeerIdentity()> identity;  // of the cluster; asked when a request goes out
    ForwardedApi api;
};

// How many requests are passed on at once: each holds a thread while the leader works on it or a body moves.
struct ForwarderLimits {
    std::size_t threads = 32;
    std::size_t untrusted_threads = 8;  // for clients that are not trusted, and what waits long
    std::size_t slow_threads = 16;      // for what guests send as slowly as they like
    std::size_t queue = 10'000;
    std::size_t websockets = 512;                  // each holds two threads
    Duration patience = std::chrono::seconds(15);  // without a leader
};

// Thread-safe.
class Forwarder {
  public:
    Forwarder(ForwarderParts parts, ForwarderLimits limits);
    ~Forwarder();  // stop()
    // Makes `plan` that of a follower, where this manager is one. Reads memory only.
    void adapt(const Request& request, RequestPlan& plan);
    void stop();  // requests that wait are dropped, WebSockets end

  private:
    struct Passing;
    void adapt_local_read(RequestPlan& plan);
    std::shared_ptr<BodySink> open_upload(const UploadOpener& here, Request& request);
    Handler forwarding(Handler here, ThreadPool& pool);
    Handler waiting(Handler here, ThreadPool& pool);
    void pass_on(const std::shared_ptr<Passing>& request);
    bool answered(Passing& request);
    bool answered_by_upload(Passing& request, UploadRelay& upload);
    bool answered_by(Passing& request, const LeadingManager& leader);
    bool answered_by_call(Passing& request, LeaderConnection& leader);
    void try_again(const std::shared_ptr<Passing>& request);
    bool waits_for_operation(const Request& request) const;
    TryLater no_leader() const;
    TryLater unknown_end() const;
    void fail(Passing& request, const std::exception& error) const;

    ForwarderParts parts_;
    const ForwarderLimits limits_;
    LeaderConnections connections_;
    WebSocketRelays relays_;
    DelayBudget waiting_bodies_;
    std::stop_source stopping_;
    Counter &passed_, &repeated_, &refused_, &unknown_;
    ThreadPool trusted_, untrusted_, slow_;
    Timer timer_;
};

}  // namespace svc::server
