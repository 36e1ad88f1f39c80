#pragma once
// A machine of a cluster as other managers see it: a simulated runtime behind the node API, on a real TLS
// server.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/cluster/node_api.h"
#include "libsvc/net/server/routed_service.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "tests/support/test_certificates.h"

namespace svc::test {

// The certificate that all managers of a test have.
class ClusterIdentity {
  public:
    ClusterIdentity() {
        CertificatePlan plan;
        plan.name = "cluster";
        const MadeCertificate made = make_certificate(plan);
        identity.keys = made.write_to(directory_.path(), "cluster");
        identity.fingerprint = made.fingerprint;
    }
    PeerIdentity identity;

  private:
    TemporaryDirectory directory_{std::filesystem::temp_directory_path(), "svc-identity-"};
};

class NodeRoutes final : public RoutedService {
  public:
    explicit NodeRoutes(std::vector<Route> routes) : RoutedService({{"", std::move(routes)}}) {}

  private:
    Response reply_to(const std::exception& error) override { return json_response(500, error.what()); }
};

// The runtime outlives stop() and start(), as containers outlive a manager. One thread calls both.
class NodeServer {
  public:
    NodeServer(const ClusterIdentity& identity, Runtime& runtime, LayerStore& layers,
               std::filesystem::path state)
        : identity_(identity.identity), runtime_(runtime), layers_(layers), state_(std::move(state)) {
        make_directories(state_);
        start();
    }
    ~NodeServer() { stop(); }
    NodeServer(const NodeServer&) = delete;
    NodeServer& operator=(const NodeServer&) = delete;

    void start() {
        guard_.emplace(state_ / "term");
        events_.emplace(runtime_);
        api_.emplace(NodeApiParts{runtime_, layers_, *events_, *guard_, identity_, state_ / "packages"});
        service_.emplace(api_->routes());
        pool_.emplace("node-server", 8, 100);
        server_.emplace(*service_, *pool_, ServerLimits{});
        address_ = server_->listen_tcp("managers", address_.empty() ? "127.0.0.1:0" : address_,
                                       std::make_shared<TlsContext>(identity_.keys));
        server_->start();
    }
    void stop() {
        if (!server_) return;
        api_->stop();
        server_->stop(std::chrono::milliseconds(0));
        server_.reset();
        pool_.reset();
        service_.reset();
        api_.reset();
        events_.reset();
        guard_.reset();
    }
    const std::string& address() const { return address_; }
    TermGuard& guard() { return *guard_; }
    RuntimeEvents& events() { return *events_; }
    std::filesystem::path state() const { return state_; }
    // Connections break, as on a bad network; new ones are taken.
    void break_connections() {
        server_->disconnect([](const Peer&) { return true; }, "broken by the test");
    }

  private:
    const PeerIdentity identity_;
    Runtime& runtime_;
    LayerStore& layers_;
    const std::filesystem::path state_;
    std::string address_;
    std::optional<TermGuard> guard_;
    std::optional<RuntimeEvents> events_;
    std::optional<NodeApi> api_;
    std::optional<NodeRoutes> service_;
    std::optional<ThreadPool> pool_;
    std::optional<HttpServer> server_;
};

}  // namespace svc::test
