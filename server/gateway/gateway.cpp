#include "server/gateway/gateway.h"

#include <atomic>

#include "libsvc/base/error.h"
#include "libsvc/net/server/server.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "libsvc/streaming/stream_gateway.h"
#include "server/gateway/addresses.h"
#include "server/gateway/client_url.h"
#include "server/gateway/middleware.h"
#include "server/gateway/routes/routes.h"
#include "server/gateway/service_metrics.h"
#include "server/gateway/state_directory.h"
#include "server/process/local_socket.h"

namespace svc::gateway {

namespace {

constexpr std::chrono::seconds last_responses{2};  // what a stopping gateway gives running requests
constexpr std::size_t request_workers = 8, most_queued = 10'000;

StreamGatewayOptions service_options(const Options& options, const Seams& seams,
                                     const StateDirectory& state) {
    StreamGatewayOptions made;
    made.token_secret = TokenMint::load_secret(state.token_secret().string());
    made.location = options.location;
    made.regions = options.regions;
    for (RegionConfig& region : made.regions) region.streamer_addons = options.streamer_addons;
    made.region_interval = seams.region_interval;
    return made;
}

// The TLS server name that instances ask for. They get the fingerprint of its certificate at launch and
// verify it whenever they reconnect, so this certificate stays when the one for browsers is replaced.
constexpr const char* instance_identity = "instances.svc-gateway.internal";

NamedIdentity make_instance_identity(const StateDirectory& state, const Clock& clock) {
    NamedIdentity identity{instance_identity, state.instance_keys()};
    ensure_key_pair(identity.files, instance_identity, {instance_identity}, {}, clock);
    return identity;
}

std::shared_ptr<TlsContext> make_tls(const Options& options, const StateDirectory& state,
                                     const Clock& clock) {
    KeyPair files{options.tls_certificate, options.tls_key};
    if (files.certificate.empty()) {
        files = state.server_keys();
        std::vector<std::string> addresses = machine_addresses();
        addresses.insert(addresses.begin(), {"127.0.0.1", "::1"});
        ensure_key_pair(files, host_name(), {host_name(), "localhost"}, addresses, clock);
    }
    return std::make_shared<TlsContext>(files, options.tls12 ? TlsVersion::tls12 : TlsVersion::tls13,
                                        std::vector{make_instance_identity(state, clock)});
}

ServerLimits server_limits() {
    ServerLimits limits;
    limits.max_connections = 24'000;
    limits.max_websockets = 20'000;
    limits.websocket.max_message = RelayLimits{}.message_bytes;
    return limits;
}

}  // namespace

class Gateway::Parts {
  public:
    Parts(Options given, const Seams& seams);
    ~Parts() { stop(); }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    void serve();
    void reload();
    void stop();

    const Options options;
    SystemClock system_clock;
    Clock& clock;
    SystemIdSource ids{clock};
    StateDirectory state;
    MetricsRegistry metrics;
    SqliteStore store;
    std::shared_ptr<TlsContext> tls;
    StreamGateway services;
    ThreadPool workers{"request", request_workers, most_queued};
    Authenticator authenticator{services.accounts()};
    BasicCredentials credentials;
    Cors cors;
    HttpMetrics http_metrics{metrics, host_name()};
    std::atomic<Phase> phase = Phase::starting;
    RouteContext context{authenticator, services.accounts(), services.regions(), options.public_url};
    Middleware middleware;
    HttpServer server;
    std::vector<std::string> addresses;

  private:
    void listen();
    SessionServiceConfig session_config() const;
    bool instances_use_tls() const { return context.instance_url.starts_with("https://"); }
};

Gateway::Parts::Parts(Options given, const Seams& seams)
    : options(std::move(given)),
      clock(seams.clock ? *seams.clock : system_clock),
      state(options.state_dir),
      store(state.database()),
      tls(make_tls(options, state, clock)),
      services(service_options(options, seams, state), {store, clock, ids, seams.management}),
      credentials(options.metrics_user, options.metrics_password),
      cors(options.allowed_origins),
      middleware({authenticator, cors, http_metrics, ids, phase}, api_routes(context),
                 metrics_routes(metrics, credentials)),
      server(middleware, workers, server_limits()) {}

void Gateway::Parts::listen() {
    process::make_socket_folder(options.socket);
    server.listen_unix(std::string(local_listener), options.socket, 0600);
    addresses.push_back("unix:" + options.socket.string());
    const std::string address = server.listen_tcp(std::string(api_listener), options.listen, tls);
    addresses.push_back("https://" + address);
    context.instance_url = options.instance_url.empty() ? own_url(address) : options.instance_url;
    if (options.metrics_listen.empty() || options.metrics_user.empty()) return;
    addresses.push_back(with_context("metrics_listen", [&] {
        return "https://" + server.listen_tcp(std::string(metrics_listener), options.metrics_listen, tls) +
               "/internal/1.0/metrics";
    }));
}

void Gateway::Parts::reload() {
    tls->reload();
    if (instances_use_tls()) services.sessions().use_fingerprint(tls->fingerprint());
}

SessionServiceConfig Gateway::Parts::session_config() const {
    SessionServiceConfig config;
    config.ice = options.ice;
    config.instance_url = websocket_url(context.instance_url, "");
    if (instances_use_tls()) {
        config.fingerprint = tls->fingerprint();
        config.server_name = instance_identity;
        config.server_fingerprint = tls->fingerprint(instance_identity);
    }
    config.limits = options.limits;
    return config;
}

// The sockets answer 503 until the services have started.
void Gateway::Parts::serve() {
    listen();
    services.open(session_config());
    context.sessions = &services.sessions();
    add_service_metrics(metrics, services.sessions(), services.accounts(), services.regions());
    server.start();
    services.start();
    phase = Phase::serving;
}

void Gateway::Parts::stop() {
    if (phase.exchange(Phase::stopping) == Phase::stopping) return;
    services.stop();
    server.stop(last_responses);
    workers.stop();
}

Gateway::Gateway(Options options, const Seams& seams)
    : parts_(std::make_unique<Parts>(std::move(options), seams)) {
    parts_->serve();
}

Gateway::~Gateway() {
    stop();
}

const std::vector<std::string>& Gateway::addresses() const {
    return parts_->addresses;
}

std::vector<std::string> Gateway::routes() const {
    std::vector<std::string> routes;
    for (const Route& route : api_routes(parts_->context))
        routes.push_back(std::string(to_text(route.method)) + " " + route.path);
    return routes;
}

std::string Gateway::fingerprint() const {
    return parts_->tls->fingerprint();
}

void Gateway::reload(log::Level level) {
    log::set_level(level);
    parts_->reload();
}

void Gateway::stop() {
    parts_->stop();
}

}  // namespace svc::gateway
