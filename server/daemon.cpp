#include "server/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/management/management_service.h"
#include "server/http/listener_limits.h"
#include "server/http/middleware.h"
#include "server/metrics/cluster_metrics.h"
#include "server/metrics/hypervisor_metrics.h"
#include "server/process/file_limit.h"
#include "server/process/local_socket.h"
#include "server/routes/api.h"
#include "server/routes/routes.h"
#include "server/routes/services.h"
#include "server/runtime_choice.h"
#include "server/service_options.h"
#include "server/state_directory.h"
#include "server/store_choice.h"

namespace svc::server {

namespace {

constexpr std::chrono::seconds last_responses{2};  // what a stopping server gives running requests

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// A connection takes a file: half of all are left for the instances and the service's own work.
ServerLimits server_limits(const Options& options) {
    ServerLimits limits = options.limits;
    limits.max_connections = std::min(limits.max_connections, process::file_limit() / 2);
    if (limits.max_connections < options.limits.max_connections)
        log::warning("max_connections is lowered to half of the limit of open files",
                     {{"connections", std::to_string(limits.max_connections)}});
    return limits;
}

// Only the `lxc` runtime has a bridge.
InstanceNetwork network_of_instances(const Options& options) {
    if (options.runtime == "lxc") return {options.lxc.subnet, options.lxc.bridge};
    return options.simulated.subnet.empty() ? InstanceNetwork()
                                            : InstanceNetwork(options.simulated.subnet, "");
}

void publish_log(EventBus& events, log::Level level, std::string_view message, const log::Fields& fields) {
    Json context = Json::object();
    for (const auto& [key, value] : fields) context.set(key, value);
    events.publish(EventType::logging, Json::object({{"message", message},
                                                     {"level", log::to_text(level)},
                                                     {"context", std::move(context)}}));
}

// True where all instances have the users of one range.
bool shares_ids(Runtime& runtime) {
    const Capacity capacity = runtime.capacity();
    const Json* const ranges = capacity.details.find("id_ranges");
    return ranges != nullptr && *ranges != Json("own");
}

}  // namespace

// In the order of construction; destruction goes backwards.
class Daemon::Parts {
  public:
    explicit Parts(Options given);
    ~Parts();
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    void listen();
    void serve();

    const Options options;
    std::atomic<bool> lost{false};
    SystemClock clock;
    SystemIdSource ids{clock};
    StateDirectory state;
    MetricsRegistry metrics;
    EventBus events;
    GuestReports reports;
    std::unique_ptr<Store> store;
    std::unique_ptr<BlobStore> blobs;
    BuiltRuntime runtime;
    ManagementService management;
    Authenticator authenticator;
    InstanceNetwork instance_network;
    HypervisorMetrics hypervisor_metrics;
    Services services;
    ClusterMetrics cluster_metrics;
    std::shared_ptr<TlsContext> tls;
    ThreadPool workers;
    ThreadPool untrusted_workers;  // run the requests of clients that are not trusted
    Middleware middleware;
    HttpServer server;
    std::vector<std::string> addresses;
    std::vector<std::string> api_addresses;  // those of TLS
    bool stopped = false;

  private:
    void end_process();
    Services routed_services();
    void make_tls();
    void listen_api();
    void listen_metrics();
    void disconnect_distrusted();
    ServerIdentity identity() const;
    ConnectionShares shares() const;
};

Daemon::Parts::Parts(Options given)
    : options(std::move(given)),
      state(options.state_dir),
      events(clock, {state.events()}),
      store(open_store(options, state, clock, [this] { end_process(); })),
      blobs(std::make_unique<DirBlobStore>(
          DirBlobStoreOptions{state.blobs(), options.disk_reserve, options.max_upload})),
      runtime(build_runtime(options, state, clock, reports, *store)),
      management({*store, *blobs, *runtime.runtime, *runtime.layers, events, clock, ids, &reports},
                 management_options(options, state)),
      authenticator([this](const ClientCertificate& certificate) {
          return management.certificates().trusts(certificate.der);
      }),
      instance_network(network_of_instances(options)),
      hypervisor_metrics(*runtime.runtime, management.instances(), management.applications()),
      services(routed_services()),
      cluster_metrics(metrics, management.nodes(), management.instances(), management.applications(), events),
      workers("request", options.workers, options.request_queue),
      untrusted_workers("untrusted", std::max<std::size_t>(options.workers / 2, 1), options.request_queue),
      middleware(
          {authenticator, management.tokens(), metrics, ids, clock, workers, host_name(), options.max_upload,
           options.max_requests_per_second, known_to(management.instances()), &untrusted_workers},
          api_routes(services), metrics_routes(services)),
      server(middleware, workers, server_limits(options), options.io_threads) {
    management.certificates().on_removed([this] { disconnect_distrusted(); });
}

// The next one, if it is started, is refused or continues, as etcd says.
void Daemon::Parts::end_process() {
    lost = true;
    log::error("another svcd has taken over the records in etcd: this one ends");
    ::kill(::getpid(), SIGTERM);
}

Services Daemon::Parts::routed_services() {
    return {{options.max_body, {options.event_queue_bytes, options.event_queue_messages}},
            authenticator,
            hypervisor_metrics,
            events,
            management.engine(),
            *blobs,
            management.config(),
            management.certificates(),
            management.addons(),
            management.images(),
            management.image_sync(),
            management.applications(),
            management.registry(),
            management.nodes(),
            management.instances(),
            management.exec(),
            management.tokens(),
            management.bulk_deletion(),
            management,
            [this] { return identity(); },
            instance_network};
}

// Connections whose certificate has lost its trust.
void Daemon::Parts::disconnect_distrusted() {
    server.disconnect([this](const Peer& peer) { return authenticator.lost_trust(peer); },
                      "certificate was removed");
}

ServerIdentity Daemon::Parts::identity() const {
    ServerIdentity identity;
    if (tls) identity.fingerprint = tls->fingerprint();
    identity.addresses = api_addresses;
    return identity;
}

ConnectionShares Daemon::Parts::shares() const {
    return {server_limits(options).max_connections, options.peer_connections, options.instance_connections};
}

// Requests use the services: their threads end first.
Daemon::Parts::~Parts() {
    server.stop(std::chrono::milliseconds(0));
    workers.stop();
    untrusted_workers.stop();
}

void Daemon::Parts::make_tls() {
    if (options.listen.empty() && options.hypervisor_listen.empty()) return;
    const Capacity capacity = runtime.runtime->capacity();
    std::vector<std::string> names{"127.0.0.1", "::1"};
    if (!capacity.address.empty()) names.push_back(capacity.address);
    ensure_key_pair(state.server_keys(), host_name(), {host_name(), "localhost"}, names, clock);
    tls = std::make_shared<TlsContext>(state.server_keys());
}

void Daemon::Parts::listen_api() {
    process::make_socket_folder(options.socket);
    server.listen_unix(std::string(local_listener), options.socket, 0660, process::socket_group(),
                       local_limits());
    addresses.push_back("unix:" + options.socket.string());
    server.listen_unix(std::string(agent_listener), state.agent_socket(), 0666, -1,
                       agent_limits(shares(), shares_ids(*runtime.runtime)));
    state.publish_agent_socket();
    for (const std::string& address : options.listen)
        api_addresses.push_back("https://" + server.listen_tcp(std::string(tls_listener), address, tls,
                                                               tls_limits(shares(), authenticator)));
    addresses.insert(addresses.end(), api_addresses.begin(), api_addresses.end());
}

void Daemon::Parts::listen_metrics() {
    if (!options.metrics_listen.empty())
        addresses.push_back(with_context("metrics_listen", [&] {
            return "http://" + server.listen_tcp(std::string(metrics_listener), options.metrics_listen,
                                                 nullptr, metrics_limits(shares()));
        }));
    if (!options.hypervisor_listen.empty())
        addresses.push_back(with_context("hypervisor_listen", [&] {
            return "https://" +
                   server.listen_tcp(std::string(hypervisor_listener), options.hypervisor_listen, tls,
                                     tls_limits(shares(), authenticator)) +
                   "/1.0/metrics";  // tells it from the API
        }));
}

void Daemon::Parts::listen() {
    make_tls();
    listen_api();
    listen_metrics();
}

void Daemon::Parts::serve() {
    log::set_listener([this](log::Level level, std::string_view message, const log::Fields& fields) {
        publish_log(events, level, message, fields);
    });
    management.recover();
    failpoint("server.recovered");
    listen();
    server.start();
    failpoint("server.listens");
    management.start();
}

Daemon::Daemon(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {
    try {
        parts_->serve();
    } catch (...) {
        stop();
        throw;
    }
}

Daemon::~Daemon() {
    stop();
}

const std::vector<std::string>& Daemon::addresses() const {
    return parts_->addresses;
}

std::vector<std::string> Daemon::routes() const {
    std::vector<std::string> routes;
    for (const Route& route : api_routes(parts_->services))
        routes.push_back(std::string(to_text(route.method)) + " " + route.path);
    return routes;
}

std::string Daemon::tls_fingerprint() const {
    return parts_->tls ? parts_->tls->fingerprint() : "";
}

bool Daemon::lost() const {
    return parts_->lost;
}

void Daemon::reload(log::Level level) {
    log::set_level(level);
    if (parts_->tls) parts_->tls->reload();
}

// The API stays up while operations end, so that clients see how they ended.
bool Daemon::stop() {
    if (parts_->stopped) return true;
    parts_->stopped = true;
    const bool idle = parts_->management.stop(parts_->options.shutdown_grace);
    parts_->server.stop(last_responses);
    log::set_listener({});
    return idle;
}

}  // namespace svc::server
