#include "server/gateway/gateway.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "server/gateway/addresses.h"
#include "server/gateway/client_url.h"
#include "server/gateway/key_files.h"
#include "server/gateway/service_metrics.h"
#include "server/login/authenticate.h"
#include "server/process/file_limit.h"
#include "server/process/local_socket.h"
#include "server/process/restart.h"

namespace svc::gateway {

namespace {

constexpr std::chrono::seconds last_responses{2};  // what a stopping gateway gives running requests
constexpr std::size_t request_workers = 8, most_queued = 10'000;
constexpr std::size_t most_connections = 24'000;
constexpr std::size_t connections_of_an_address =
    1000;  // without a WebSocket; many clients may have one address
constexpr std::size_t metrics_connections = 64;
constexpr std::chrono::seconds regions_patience{2};  // of a new leader
constexpr std::chrono::milliseconds look_again{20};

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
      cluster_(open_store(options_, state_, clock_, [this] { begin_anew(); })),
      tls_(make_tls(options_, state_, clock_)),
      services_(service_options(options_, seams, state_), {*cluster_.store, clock_, ids_, seams.management}),
      workers_("request", request_workers, most_queued),
      credentials_(options_.metrics_user, options_.metrics_password, clock_),
      cors_(options_.allowed_origins),
      http_metrics_(metrics_, host_name()),
      front_(make_front()),
      middleware_({authenticator_, cors_, http_metrics_, ids_, phase_, detour()}, api_routes(context_),
                  metrics_routes(metrics_, credentials_)),
      server_(front_ ? front_->before(middleware_) : middleware_, workers_, server_limits()) {
    if (front_) context_.database_nodes = options_.etcd.endpoints.size();
    serve();
}

Gateway::~Gateway() {
    stop();
}

// What this gateway had in memory as the leader is worth nothing any more. Instances go on.
void Gateway::begin_anew() {
    process::restart_self("another gateway leads");
}

// The one that all gateways have, and none is replaced.
PeerIdentity Gateway::peer_identity() const {
    return {state_.instance_keys(), tls_->fingerprint(instance_identity)};
}

std::unique_ptr<Front> Gateway::make_front() {
    if (!cluster_.candidacy) return nullptr;
    return std::make_unique<Front>(FrontParts{*cluster_.candidacy, clock_, metrics_, cors_,
                                              [this] { return peer_identity(); }, options_.leader_patience});
}

std::function<void(const Request&, RequestPlan&)> Gateway::detour() {
    if (!front_) return {};
    return [this](const Request& request, RequestPlan& plan) { front_->adapt(request, plan); };
}

void Gateway::listen_api() {
    process::make_socket_folder(options_.socket);
    server_.listen_unix(std::string(local_listener), options_.socket, 0600);
    addresses_.push_back("unix:" + options_.socket.string());
    const std::string address =
        server_.listen_tcp(std::string(api_listener), options_.listen, tls_, client_limits());
    addresses_.push_back("https://" + address);
    context_.instance_url = options_.instance_url.empty() ? own_url(address) : options_.instance_url;
}

void Gateway::listen_metrics() {
    if (options_.metrics_listen.empty() || options_.metrics_user.empty()) return;
    addresses_.push_back(with_context("metrics_listen", [&] {
        return "https://" +
               server_.listen_tcp(std::string(metrics_listener), options_.metrics_listen, tls_,
                                  metrics_limits()) +
               "/internal/1.0/metrics";
    }));
}

void Gateway::listen_gateways() {
    ListenerLimits limits = client_limits();
    limits.untrusted /= 8;
    limits.standing = [this](const Peer& peer) {
        return front_->is_gateway(peer) ? Standing::reserved : Standing::untrusted;
    };
    const std::string address = with_context("gateway_listen", [&] {
        return server_.listen_tcp(std::string(server::managers_listener), options_.gateway_listen,
                                  make_gateways_tls(state_), std::move(limits));
    });
    constexpr std::string_view scheme = "https://";
    gateway_address_ =
        options_.gateway_address.empty() ? own_url(address).substr(scheme.size()) : options_.gateway_address;
    addresses_.push_back("gateways:" + address);
}

void Gateway::listen() {
    listen_api();
    if (front_) listen_gateways();
    listen_metrics();
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
    if (front_) config.other_gateways = [this] { return other_gateways(); };
    return config;
}

std::vector<std::string> Gateway::other_gateways() const {
    std::vector<std::string> urls = front_->other_gateways();
    for (std::string& url : urls) url = websocket_url(url, "");
    return urls;
}

// The sockets answer 503 until the services have started.
void Gateway::serve() {
    listen();
    services_.open(session_config());
    context_.sessions = &services_.sessions();
    add_service_metrics(metrics_, services_.sessions(), services_.accounts(),
                        [this] { return leads() ? services_.regions().counts() : RegionCounts(); });
    server_.start();
    if (!front_) services_.start();
    phase_ = Phase::serving;
    if (front_) front_->start(gateway_address_, context_.instance_url, [this] { lead(); });
}

// Requests wait meanwhile: a session that is asked for finds the regions known.
void Gateway::lead() try {
    services_.start();
    const SteadyTime end = clock_.steady_now() + regions_patience;
    while (!services_.regions().all_asked() && clock_.steady_now() < end)
        if (!clock_.wait(stopping_.get_token(), look_again)) return;
} catch (const Error& e) {
    log::error("this gateway cannot lead", {{"error", e.what()}});
    begin_anew();
    throw;
}

void Gateway::stop() {
    if (phase_.exchange(Phase::stopping) == Phase::stopping) return;
    stopping_.request_stop();
    if (front_) front_->resign();
    services_.stop();
    server_.stop(last_responses);
    if (front_) front_->stop();
    workers_.stop();
}

std::vector<std::string> Gateway::routes() const {
    std::vector<std::string> routes;
    for (const Route& route : api_routes(context_))
        routes.push_back(std::string(to_text(route.method)) + " " + route.path);
    return routes;
}

}  // namespace svc::gateway
