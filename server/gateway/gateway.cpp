#include "server/gateway/gateway.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "server/gateway/addresses.h"
#include "server/gateway/client_url.h"
#include "server/gateway/service_metrics.h"
#include "server/process/file_limit.h"
#include "server/process/local_socket.h"

namespace svc::gateway {

namespace {

constexpr std::chrono::seconds last_responses{2};  // what a stopping gateway gives running requests
constexpr std::size_t request_workers = 8, most_queued = 10'000;
constexpr std::size_t most_connections = 24'000;
constexpr std::size_t connections_of_an_address =
    1000;  // without a WebSocket; many clients may have one address
constexpr std::size_t metrics_connections = 64;

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

// A connection takes a file: the service's own work needs some.
ServerLimits server_limits() {
    ServerLimits limits;
    limits.max_connections = std::min(most_connections, process::file_limit() * 3 / 4);
    limits.max_websockets = 20'000;
    limits.websocket.max_message = RelayLimits{}.message_bytes;
    return limits;
}

// Browsers, and the streamers of instances, are not trusted until their token has opened a WebSocket.
ListenerLimits client_limits() {
    ListenerLimits limits;
    limits.standing = [](const Peer&) { return Standing::untrusted; };
    limits.untrusted = server_limits().max_connections / 2;
    limits.each = connections_of_an_address;
    return limits;
}

ListenerLimits metrics_limits() {
    ListenerLimits limits = client_limits();
    limits.untrusted = limits.each = metrics_connections;
    return limits;
}

}  // namespace

Gateway::Gateway(Options options, const Seams& seams)
    : options_(std::move(options)),
      clock_(seams.clock ? *seams.clock : system_clock_),
      state_(options_.state_dir),
      store_(state_.database()),
      tls_(make_tls(options_, state_, clock_)),
      services_(service_options(options_, seams, state_), {store_, clock_, ids_, seams.management}),
      workers_("request", request_workers, most_queued),
      credentials_(options_.metrics_user, options_.metrics_password, clock_),
      cors_(options_.allowed_origins),
      http_metrics_(metrics_, host_name()),
      middleware_({authenticator_, cors_, http_metrics_, ids_, phase_}, api_routes(context_),
                  metrics_routes(metrics_, credentials_)),
      server_(middleware_, workers_, server_limits()) {
    serve();
}

Gateway::~Gateway() {
    stop();
}

void Gateway::listen() {
    process::make_socket_folder(options_.socket);
    server_.listen_unix(std::string(local_listener), options_.socket, 0600);
    addresses_.push_back("unix:" + options_.socket.string());
    const std::string address =
        server_.listen_tcp(std::string(api_listener), options_.listen, tls_, client_limits());
    addresses_.push_back("https://" + address);
    context_.instance_url = options_.instance_url.empty() ? own_url(address) : options_.instance_url;
    if (options_.metrics_listen.empty() || options_.metrics_user.empty()) return;
    addresses_.push_back(with_context("metrics_listen", [&] {
        return "https://" +
               server_.listen_tcp(std::string(metrics_listener), options_.metrics_listen, tls_,
                                  metrics_limits()) +
               "/internal/1.0/metrics";
    }));
}

void Gateway::reload(log::Level level) {
    log::set_level(level);
    tls_->reload();
    if (instances_use_tls()) services_.sessions().use_fingerprint(tls_->fingerprint());
}

SessionServiceConfig Gateway::session_config() const {
    SessionServiceConfig config;
    config.ice = options_.ice;
    config.instance_url = websocket_url(context_.instance_url, "");
    if (instances_use_tls()) {
        config.fingerprint = tls_->fingerprint();
        config.server_name = instance_identity;
        config.server_fingerprint = tls_->fingerprint(instance_identity);
    }
    config.limits = options_.limits;
    return config;
}

// The sockets answer 503 until the services have started.
void Gateway::serve() {
    listen();
    services_.open(session_config());
    context_.sessions = &services_.sessions();
    add_service_metrics(metrics_, services_.sessions(), services_.accounts(), services_.regions());
    server_.start();
    services_.start();
    phase_ = Phase::serving;
}

void Gateway::stop() {
    if (phase_.exchange(Phase::stopping) == Phase::stopping) return;
    services_.stop();
    server_.stop(last_responses);
    workers_.stop();
}

std::vector<std::string> Gateway::routes() const {
    std::vector<std::string> routes;
    for (const Route& route : api_routes(context_))
        routes.push_back(std::string(to_text(route.method)) + " " + route.path);
    return routes;
}

}  // namespace svc::gateway
