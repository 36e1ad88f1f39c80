#pragma once
// svc-gateway: the stream gateway of libsvc/streaming behind HTTP and TLS.
#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/metrics.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/net/server/server.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/streaming/stream_gateway.h"
#include "server/gateway/authenticate.h"
#include "server/gateway/cors.h"
#include "server/gateway/front.h"
#include "server/gateway/http_metrics.h"
#include "server/gateway/middleware.h"
#include "server/gateway/options.h"
#include "server/gateway/routes/routes.h"
#include "server/gateway/state_directory.h"
#include "server/gateway/store_choice.h"

namespace svc::gateway {

// What tests replace.
struct Seams {
    Clock* clock = nullptr;  // null: the system's
    std::function<std::unique_ptr<Management>(const RegionConfig&)> management = make_management_client;
    Duration region_interval = std::chrono::seconds(5);
};

// One thread. Throws Error when it cannot start: busy for a state directory or an address in use.
class Gateway {
  public:
    // Opens the state, continues what an earlier process left, and serves.
    explicit Gateway(Options options, const Seams& seams = {});
    ~Gateway();  // stop()
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // "unix:/run/svc-gateway/unix.socket", "https://[::]:4000", "https://127.0.0.1:9105/internal/1.0/metrics"
    const std::vector<std::string>& addresses() const { return addresses_; }
    std::vector<std::string> routes() const;                         // "GET /1.0/sessions/{id}"
    std::string fingerprint() const { return tls_->fingerprint(); }  // of the certificate browsers now see
    void reload(log::Level level);                                   // and the certificate
    // No new work; what is under way is continued by the next start. Instances and their media go on.
    void stop();
    bool leads() const { return !front_ || front_->leads(); }  // works for the sessions; thread-safe

  private:
    void serve();
    void listen();
    void listen_api();
    void listen_metrics();
    void listen_gateways();
    std::unique_ptr<Front> make_front();
    std::function<void(const Request&, RequestPlan&)> detour();
    PeerIdentity peer_identity() const;
    std::vector<std::string> other_gateways() const;  // for instances
    void lead();
    void begin_anew();
    SessionServiceConfig session_config() const;
    bool instances_use_tls() const { return context_.instance_url.starts_with("https://"); }

    const Options options_;
    SystemClock system_clock_;
    Clock& clock_;
    SystemIdSource ids_{clock_};
    StateDirectory state_;
    MetricsRegistry metrics_;
    server::ClusterSeams cluster_;  // without a candidacy: the only gateway
    std::shared_ptr<TlsContext> tls_;
    StreamGateway services_;
    ThreadPool workers_;
    Authenticator authenticator_{services_.accounts()};
    BasicCredentials credentials_;
    Cors cors_;
    HttpMetrics http_metrics_;
    std::unique_ptr<Front> front_;  // of one gateway among several
    std::atomic<Phase> phase_ = Phase::starting;
    RouteContext context_{authenticator_, services_.accounts(), services_.regions(), options_.public_url,
                          options_.frame_ancestors};
    Middleware middleware_;
    HttpServer server_;
    std::vector<std::string> addresses_;
    std::string gateway_address_;  // where the other gateways reach this one
    std::stop_source stopping_;
};

}  // namespace svc::gateway
