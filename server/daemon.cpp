#include "server/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/runtime/lxc/lxc_runtime.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/guest_reports.h"
#include "server/http/middleware.h"
#include "server/jobs.h"
#include "server/metrics/cluster_metrics.h"
#include "server/metrics/hypervisor_metrics.h"
#include "server/process/local_socket.h"
#include "server/programs.h"
#include "server/routes/api.h"
#include "server/routes/routes.h"
#include "server/service_options.h"
#include "server/state_directory.h"
#include "server/wiring.h"

namespace svc::server {

namespace {

constexpr std::chrono::seconds last_responses{2};  // what a stopping server gives running requests

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

struct CloseReports {
    GuestReports& reports;
    ~CloseReports() { reports.close(); }
};

struct BuiltRuntime {
    std::unique_ptr<Runtime> runtime;
    LayerStore* layers = nullptr;  // part of the runtime
};

template <class Concrete>
BuiltRuntime built(std::unique_ptr<Concrete> runtime) {
    LayerStore& layers = runtime->layers();
    return {std::move(runtime), &layers};
}

BuiltRuntime build_simulated(const Options& options, const StateDirectory& state, Clock& clock,
                             GuestReports& reports) {
    SimulatedOptions simulated;
    simulated.start_delay = options.simulated.start_delay;
    simulated.stop_delay = options.simulated.stop_delay;
    simulated.fail_start_share = options.simulated.fail_share;
    simulated.cpus = options.simulated.cpus;
    simulated.memory_bytes = options.simulated.memory;
    simulated.state_dir = state.runtime("simulated");
    simulated.report_running = [&reports](std::string_view id) { reports.running(id); };
    return built(std::make_unique<SimulatedRuntime>(clock, std::move(simulated)));
}

std::unique_ptr<LxcRuntime> build_lxc(const Options& options, const StateDirectory& state,
                                      const Clock& clock) {
    LxcOptions lxc;
    lxc.state_dir = state.runtime("lxc");
    lxc.bridge = options.lxc.bridge;
    lxc.subnet = options.lxc.subnet;
    lxc.bridge_mtu = options.lxc.bridge_mtu;
    lxc.agent = find_program("svc-agent", options.lxc.agent, "instance-agent", "agent");
    lxc.helper = find_program("svc-lxc", options.lxc.helper, "libsvc/runtime/lxc/helper", "lxc_helper");
    lxc.agent_socket_dir = state.agent_sockets();
    lxc.id_base = options.lxc.id_base;
    lxc.id_count = options.lxc.id_count;
    lxc.address = options.lxc.address;
    lxc.public_address = options.lxc.public_address;
    lxc.processes = options.lxc.processes;
    return std::make_unique<LxcRuntime>(std::move(lxc), clock);
}

BuiltRuntime build_runtime(const Options& options, const StateDirectory& state, Clock& clock,
                           GuestReports& reports) {
    if (options.runtime == "simulated") return build_simulated(options, state, clock, reports);
    return built(build_lxc(options, state, clock));
}

void publish_log(EventBus& events, log::Level level, std::string_view message, const log::Fields& fields) {
    Json context = Json::object();
    for (const auto& [key, value] : fields) context.set(key, value);
    events.publish(EventType::logging, Json::object({{"message", message},
                                                     {"level", log::to_text(level)},
                                                     {"context", std::move(context)}}));
}

}  // namespace

// In the order of construction; the end goes backwards.
class Daemon::Parts {
  public:
    explicit Parts(Options given);
    ~Parts();
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    void listen();
    void serve();
    bool is_idle() const;

    const Options options;
    SystemClock clock;
    SystemIdSource ids{clock};
    StateDirectory state;
    MetricsRegistry metrics;
    EventBus events;
    GuestReports reports;
    std::unique_ptr<Store> store;
    std::unique_ptr<BlobStore> blobs;
    BuiltRuntime runtime;
    CloseReports close_reports{reports};  // should construction end early: the runtime waits for its reports
    Images images;
    Instances instances;
    Nodes nodes;
    Addons addons;
    Applications applications;
    Certificates certificates;
    JoinTokens join_tokens;
    ConfigRecords config_records;
    Content content;
    std::unique_ptr<Engine> engine;
    AgentTokens tokens;
    ConfigService config;
    CertificateService certificate_service;
    NodeService node_service;
    AddonService addon_service;
    ImageService image_service;
    ImageSync image_sync;
    InstanceService instance_service;
    ApplicationService application_service;
    RegistryService registry_service;
    ExecService exec_service;
    BulkDeletion bulk;
    Authenticator authenticator;
    HypervisorMetrics hypervisor_metrics;
    Services services;
    ClusterMetrics cluster_metrics;
    std::shared_ptr<TlsContext> tls;
    ThreadPool workers;
    Middleware middleware;
    HttpServer server;
    std::optional<Followers> followers;  // ends first of those that use services
    std::vector<std::string> addresses;
    std::vector<std::string> api_addresses;  // those of TLS
    std::jthread first_reconciliation;
    std::unique_ptr<Periodic> periodic;
    bool stopped = false;

  private:
    void make_tls();
    void listen_api();
    void listen_metrics();
    void disconnect_distrusted();
    ServerIdentity identity() const;
    std::string architecture() { return runtime.runtime->capacity().architecture; }
};

Daemon::Parts::Parts(Options given)
    : options(std::move(given)),
      state(options.state_dir),
      events(clock, {state.events()}),
      store(std::make_unique<SqliteStore>(state.database())),
      blobs(std::make_unique<DirBlobStore>(
          DirBlobStoreOptions{state.blobs(), options.disk_reserve, options.max_upload})),
      runtime(build_runtime(options, state, clock, reports)),
      images(*store),
      instances(*store),
      nodes(*store),
      addons(*store),
      applications(*store),
      certificates(*store),
      join_tokens(*store),
      config_records(*store),
      content(*blobs, *runtime.layers),
      engine(std::make_unique<Engine>(*store, events, clock, ids, engine_options(options))),
      tokens(state.token_secret(), clock),
      config(config_records, addons, *engine),
      certificate_service(certificates, join_tokens, config, *engine, clock, ids),
      node_service({nodes, *runtime.runtime, config, *engine, node_options(options)}),
      addon_service({addons, applications, instances, config_records, content, *engine, clock}),
      image_service({*store, images, applications, content, *engine, clock, ids, architecture()}),
      image_sync({image_service, config, *blobs, *engine, architecture()}),
      instance_service({instances, images, applications, addons, config, content, node_service,
                        *runtime.runtime, *engine, events, tokens, clock, ids, session_template(options),
                        instance_options(options, state)}),
      application_service({applications, addon_service, image_service, instance_service, config, content,
                           *engine, clock, ids, architecture(), std::chrono::minutes(15),
                           options.bootstraps}),
      registry_service({application_service, certificate_service, config, *blobs, *engine, state.registry(),
                        architecture()}),
      exec_service(instances, *runtime.runtime, *engine, clock, ids),
      bulk(*engine, bulk_kinds(application_service, instance_service), bulk_deletions_at_once(options)),
      authenticator([this](const ClientCertificate& certificate) {
          return certificate_service.trusts(certificate.der);
      }),
      hypervisor_metrics(*runtime.runtime, instance_service, application_service),
      services{{options.max_body, {options.event_queue_bytes, options.event_queue_messages}},
               authenticator,
               hypervisor_metrics,
               events,
               *engine,
               *blobs,
               config,
               certificate_service,
               addon_service,
               image_service,
               image_sync,
               application_service,
               registry_service,
               node_service,
               instance_service,
               exec_service,
               tokens,
               bulk,
               [this] { return identity(); }},
      cluster_metrics(metrics, node_service, instance_service, application_service, events, clock),
      workers("request", options.workers, options.request_queue),
      middleware({authenticator, tokens, metrics, ids, clock, workers, host_name(), options.max_upload,
                  options.max_requests_per_second},
                 api_routes(services), metrics_routes(services)),
      server(middleware, workers, options.limits, options.io_threads) {
    followers.emplace(config, image_sync, registry_service);
    wire({config, addon_service, image_service, application_service, registry_service, node_service,
          instance_service, *engine, *followers});
    certificate_service.on_removed([this] { disconnect_distrusted(); });
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

// First the work that goes on in the services; then they and their own threads, which may still call into the
// engine; the engine itself goes after them.
Daemon::Parts::~Parts() {
    if (followers) followers->stop(std::chrono::hours(1));
    reports.close();
    server.stop(std::chrono::milliseconds(0));
    workers.stop();
    runtime.runtime->on_event({});
    engine->join();
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
    server.listen_unix(std::string(local_listener), options.socket, 0660, process::socket_group());
    addresses.push_back("unix:" + options.socket.string());
    server.listen_unix(std::string(agent_listener), state.agent_sockets() / "server.unix", 0666);
    for (const std::string& address : options.listen)
        api_addresses.push_back("https://" + server.listen_tcp(std::string(tls_listener), address, tls));
    addresses.insert(addresses.end(), api_addresses.begin(), api_addresses.end());
}

void Daemon::Parts::listen_metrics() {
    if (!options.metrics_listen.empty())
        addresses.push_back(with_context("metrics_listen", [&] {
            return "http://" +
                   server.listen_tcp(std::string(metrics_listener), options.metrics_listen, nullptr);
        }));
    if (!options.hypervisor_listen.empty())
        addresses.push_back(with_context("hypervisor_listen", [&] {
            return "https://" +
                   server.listen_tcp(std::string(hypervisor_listener), options.hypervisor_listen, tls) +
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
    engine->recover();
    reports.open(instance_service);
    listen();
    server.start();
    first_reconciliation = std::jthread([this] {
        try {
            instance_service.reconcile();
            content.collect_garbage();
            application_service.updates()
                .global_addons_changed();  // and what else a crash kept from being told
            application_service.publication().enforce_limits();
        } catch (const std::exception& e) {
            log::error("first reconciliation failed", {{"error", e.what()}});
        }
    });
    periodic = std::make_unique<Periodic>(clock, periodic_jobs(services, content));
    followers->start();
}

bool Daemon::Parts::is_idle() const {
    const auto operations = engine->list();
    return std::all_of(operations.begin(), operations.end(),
                       [](const auto& o) { return is_final(o->status); });
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

void Daemon::reload(log::Level level) {
    log::set_level(level);
    if (parts_->tls) parts_->tls->reload();
}

// The API stays up while work ends, so that clients see how it ended.
bool Daemon::stop() {
    if (parts_->stopped) return true;
    parts_->stopped = true;
    parts_->engine->stop(parts_->options.shutdown_grace);
    const bool idle = parts_->is_idle();
    parts_->server.stop(last_responses);
    parts_->periodic.reset();
    const bool followed = parts_->followers->stop(last_responses);
    parts_->first_reconciliation = {};
    parts_->reports.close();
    log::set_listener({});
    return idle && followed;
}

void tear_down(const Options& options) {
    const StateDirectory state(options.state_dir);
    if (options.runtime != "lxc") return;
    SystemClock clock;
    const auto runtime = build_lxc(options, state, clock);
    for (const ContainerInfo& container : runtime->list()) runtime->remove(container.id);
    runtime->tear_down();
}

}  // namespace svc::server
