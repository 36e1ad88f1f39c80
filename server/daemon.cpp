#include "server/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/management/management_service.h"
#include "libsvc/services/nodes/local_node.h"
#include "libsvc/services/trust/log_for_admins.h"
#include "server/audit/audited_requests.h"
#include "server/blob_choice.h"
#include "server/cluster/api_addresses.h"
#include "server/cluster_role.h"
#include "server/http/listener_limits.h"
#include "server/http/middleware.h"
#include "server/metrics/cluster_metrics.h"
#include "server/metrics/etcd_metrics.h"
#include "server/metrics/hypervisor_metrics.h"
#include "server/metrics/manager_metrics.h"
#include "server/process/file_limit.h"
#include "server/process/local_socket.h"
#include "server/process/restart.h"
#include "server/routes/api.h"
#include "server/routes/routes.h"
#include "server/routes/services.h"
#include "server/runtime_choice.h"
#include "server/service_options.h"
#include "server/state_directory.h"
#include "server/store_choice.h"
#include "server/ui/console.h"

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

// The runtimes `lxc` and `lxd` have a bridge.
InstanceNetwork network_of_instances(const Options& options, FromElsewhere elsewhere) {
    if (options.runtime != "simulated") return {options.lxc.subnet, options.lxc.bridge, std::move(elsewhere)};
    return options.simulated.subnet.empty() ? InstanceNetwork()
                                            : InstanceNetwork(options.simulated.subnet, "");
}

std::vector<Route> api_and_console(const Services& services) {
    std::vector<Route> routes = api_routes(services);
    std::ranges::move(console_routes(services.config), std::back_inserter(routes));
    return routes;
}

// Every viewer gets the events. Admins have the audit.
void publish_log(EventBus& events, log::Level level, std::string_view message, const log::Fields& fields) {
    if (std::ranges::find(fields, for_admins) != fields.end()) return;
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
    Parts(Options given, ClusterSeams given_cluster);
    ~Parts();
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    void listen();
    void serve();
    bool stop();

    Options options;  // as given, but for this machine's part of the instances' network
    std::atomic<bool> lost{false};
    SystemClock clock;
    SystemIdSource ids{clock};
    StateDirectory state;
    MetricsRegistry metrics;
    EventBus events;
    EventBus audit_events;
    GuestReports reports;
    std::unique_ptr<EtcdMetrics> etcd_metrics;  // null: the store is another one
    ClusterSeams cluster;
    std::unique_ptr<DirBlobStore> packages;  // of this machine
    BuiltRuntime runtime;                    // of this machine; made with the role, which ends before it
    std::unique_ptr<ClusterRole> role;       // null: this is the only manager
    RequestCounts request_counts;
    MetricsHistory history;
    ManagementService management;
    Authenticator authenticator;
    InstanceNetwork instance_network;
    HypervisorMetrics hypervisor_metrics;
    Services services;
    HistorySampler history_sampler;
    ClusterMetrics cluster_metrics;
    ManagerMetrics manager_metrics;
    std::shared_ptr<TlsContext> tls;
    Pacer pacer;
    ThreadPool workers;
    ThreadPool untrusted_workers;  // run the requests of clients that are not trusted
    ThreadPool slow_workers;       // wait for guests
    Middleware middleware;
    AuditLog audit_log, strangers_log;
    AuditedRequests audited;
    HttpServer server;
    std::vector<std::string> addresses;
    std::string manager_address;             // where other managers reach this one
    std::vector<std::string> api_addresses;  // those of TLS
    bool stopped = false;

  private:
    void end_process();
    StoreListener store_listener();
    ManagerMetricsParts metrics_of_manager();
    ManagementOptions managed();
    PeriodicJob history_job();
    ServiceReach reach() const;
    Services routed_services();
    void make_tls();
    void listen_api();
    void listen_metrics();
    void listen_managers();
    void serve_alone();
    void serve_among_others();
    ManagementSeams seams();
    std::unique_ptr<ClusterRole> make_role();
    std::vector<Route> managers_routes();
    void begin_anew();
    GuestIsUp guest_is_up(ClusterRole* among_others);
    InstanceQuestion instance_exists();
    BlobStore& blobs();
    std::function<void(const Request&, RequestPlan&)> detour();
    TrustQuestions trust_questions();
    void note_expiry(const Expiry& expiry);
    void note_use(const BrowserSession& session);
    void disconnect_distrusted(const char* why);
    ServerIdentity identity() const;
    ConnectionShares shares() const;
};

Daemon::Parts::Parts(Options given, ClusterSeams given_cluster)
    : options(std::move(given)),
      state(options.state_dir),
      events(clock, {state.events()}),
      audit_events(clock, {state.audit_events()}),
      etcd_metrics(options.store == "etcd" ? std::make_unique<EtcdMetrics>(metrics) : nullptr),
      cluster(given_cluster.store ? std::move(given_cluster)
                                  : open_store(options, state, clock, store_listener())),
      packages(open_blobs(options, state)),
      role(make_role()),
      management(seams(), managed()),
      authenticator(trust_questions()),
      instance_network(network_of_instances(
          options, [this](const Peer& peer) { return role && role->is_elsewhere(peer); })),
      hypervisor_metrics(*runtime.runtime, management.instances(), management.applications()),
      services(routed_services()),
      history_sampler(
          {management.nodes(), management.instances(), management.engine(), events, request_counts, clock}),
      cluster_metrics(metrics, management.nodes(), management.instances(), management.applications(), events,
                      history_sampler),
      manager_metrics(metrics_of_manager()),
      pacer(clock, options.max_requests_per_second, cluster.candidacy != nullptr),
      workers("request", options.workers, options.request_queue),
      untrusted_workers("untrusted", std::max<std::size_t>(options.workers / 2, 1), options.request_queue),
      slow_workers("slow", CaptureService::most_at_once, options.request_queue),
      middleware({authenticator, management.tokens(), metrics, ids, clock, workers, pacer, host_name(),
                  options.max_upload, instance_exists(), detour(), &untrusted_workers, &slow_workers,
                  [this](const BrowserSession& session) { note_use(session); }, &request_counts},
                 api_and_console(services), metrics_routes(services), managers_routes()),
      audit_log(state.audit()),
      strangers_log(state.audit_of_strangers()),
      audited({role ? role->before(middleware) : middleware, authenticator, audit_events, audit_log,
               strangers_log, clock}),
      server(audited, workers, server_limits(options), options.io_threads) {
    if (cluster.counts) etcd_metrics->follow(cluster.counts);
    management.certificates().on_loss([this] { disconnect_distrusted("certificate was removed"); });
    management.sessions().on_end([this] { disconnect_distrusted("session has ended"); });
    metrics.add_collector([this](std::string& out) {
        MetricFamily(out, "svc_captures_running", "screenshots and recordings that are being sent", "gauge")
            .add("", std::uint64_t{management.captures().running()});
    });
}

// The next one, if it is started, is refused or continues, as etcd says. One of several begins anew as a
// follower: what it had in memory as the leader is worth nothing any more, and containers do not notice.
void Daemon::Parts::end_process() {
    if (!options.manager_listen.empty()) process::restart_self("another manager leads");
    lost = true;
    log::error("another svcd has taken over the records in etcd: this one ends");
    ::kill(::getpid(), SIGTERM);
}

StoreListener Daemon::Parts::store_listener() {
    return {[this] { end_process(); }, [this](Duration took) { etcd_metrics->answered(took); }};
}

ManagerMetricsParts Daemon::Parts::metrics_of_manager() {
    ManagerMetricsParts parts{metrics, management.nodes(),
                              options.node_name.empty() ? host_node_name() : options.node_name};
    if (role) role->describe(parts);
    return parts;
}

ManagementOptions Daemon::Parts::managed() {
    ManagementOptions made = management_options(options, state);
    made.service_reach = [this] { return reach(); };
    made.jobs.push_back(history_job());
    made.instances.on_expiry = [this](const Expiry& expiry) { note_expiry(expiry); };
    return made;
}

// Begins when the service is started, after all of this is there, and ends when it is stopped.
void Daemon::Parts::note_expiry(const Expiry& expiry) {
    audited.note(audit_record_of_service(expiry.requestor, "DELETE", "/1.0/instances/" + expiry.instance,
                                         expiry.operation, clock.now()));
}

// The first sample is taken at once, so that there is something to show.
PeriodicJob Daemon::Parts::history_job() {
    return {"metrics-history",
            [this] { return history.empty() ? Duration(1) : Duration(MetricsHistory::interval); },
            [this](const std::stop_token&) { history.add(history_sampler.take()); }};
}

// Instances have the socket of their machine; the other managers count when that does not answer.
ServiceReach Daemon::Parts::reach() const {
    ServiceReach reach;
    if (tls) reach.fingerprint = tls->fingerprint();
    if (role) reach.urls = role->api_of_managers();
    return reach;
}

Services Daemon::Parts::routed_services() {
    return {{options.max_body, {options.event_queue_bytes, options.event_queue_messages}},
            authenticator,
            hypervisor_metrics,
            history,
            events,
            audit_events,
            management.engine(),
            blobs(),
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

ManagementSeams Daemon::Parts::seams() {
    ManagementSeams all{*cluster.store,
                        blobs(),
                        role ? role->runtime() : *runtime.runtime,
                        role ? role->layers() : *runtime.layers,
                        events,
                        clock,
                        ids,
                        &reports};
    if (role) all.machine_cluster = role->machine_cluster();
    return all;
}

// The LXD of this machine has left its cluster: what runs on the others is not this runtime's any more.
void Daemon::Parts::begin_anew() {
    if (role && role->machine_cluster() != nullptr)
        process::restart_self("this machine's LXD has left its cluster");
}

// The role settles what the runtime has to know of other machines.
std::unique_ptr<ClusterRole> Daemon::Parts::make_role() {
    if (!cluster.candidacy && joins_lxd(options))
        throw Error(ErrorCode::invalid_argument,
                    "lxd_cluster: join is for several managers: it needs store: etcd and manager_listen");
    std::unique_ptr<ClusterRole> made;
    if (cluster.candidacy)
        made = std::make_unique<ClusterRole>(ClusterRoleParts{options, state, clock, *cluster.candidacy,
                                                              *packages, reports, metrics,
                                                              [this] { end_process(); }});
    runtime = build_runtime(options, state, clock, guest_is_up(made.get()), *cluster.store,
                            [this] { begin_anew(); });
    if (made) made->run(runtime);
    return made;
}

std::vector<Route> Daemon::Parts::managers_routes() {
    if (!role) return {};
    return role->serve(management, {events, audit_events}, authenticator, pacer);
}

GuestIsUp Daemon::Parts::guest_is_up(ClusterRole* among_others) {
    if (GuestIsUp elsewhere = among_others != nullptr ? among_others->guest_is_up() : GuestIsUp())
        return elsewhere;
    return [this](std::string_view id) { reports.running(id); };
}

// A follower may not know a new instance yet, whose agent reports already: the leader decides.
InstanceQuestion Daemon::Parts::instance_exists() {
    return [this, known = known_to(management.instances())](std::string_view id) {
        return (role && !role->leads()) || known(id);
    };
}

BlobStore& Daemon::Parts::blobs() {
    return role ? role->packages() : *packages;
}

std::function<void(const Request&, RequestPlan&)> Daemon::Parts::detour() {
    if (!role) return {};
    return [this](const Request& request, RequestPlan& plan) { role->adapt(request, plan); };
}

TrustQuestions Daemon::Parts::trust_questions() {
    return {[this](const ClientCertificate& certificate) {
                return management.certificates().vouching(certificate.der);
            },
            &management.sessions(), [this] { return tls ? tls->fingerprint() : std::string(); }};
}

// A follower passes a request on whose use is due: Front.
void Daemon::Parts::note_use(const BrowserSession& session) {
    const bool leads = !role || role->leads();
    if (leads && management.sessions().use_is_due(session)) management.sessions().note_use(session);
}

// Connections whose certificate or session has ended, or may do less, and the commands of these.
void Daemon::Parts::disconnect_distrusted(const char* why) {
    server.disconnect([this](const Peer& peer) { return authenticator.lost_trust(peer); }, why);
    management.exec().cancel_distrusted();
}

ServerIdentity Daemon::Parts::identity() const {
    ServerIdentity identity;
    if (tls) identity.fingerprint = tls->fingerprint();
    identity.addresses = api_addresses;
    for (const std::string& url : api_addresses)
        identity.pages.push_back("https://" +
                                 address_for_others(url.substr(url.find("//") + 2), host_name()) + "/ui/");
    return identity;
}

ConnectionShares Daemon::Parts::shares() const {
    return {server_limits(options).max_connections, options.peer_connections, options.instance_connections};
}

// Requests use the services: their threads end first. Logins are answered on threads of the services, which
// outlive what they answer through.
Daemon::Parts::~Parts() {
    server.stop(std::chrono::milliseconds(0));
    management.detach();
    workers.stop();
    untrusted_workers.stop();
    slow_workers.stop();
}

void Daemon::Parts::make_tls() {
    if (options.listen.empty() && options.hypervisor_listen.empty() && options.manager_listen.empty()) return;
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

void Daemon::Parts::listen_managers() {
    const std::string address = with_context("manager_listen", [&] {
        return server.listen_tcp(
            std::string(managers_listener), options.manager_listen, tls,
            manager_limits(shares(), [this](const Peer& peer) { return authenticator.is_manager(peer); }));
    });
    manager_address = options.manager_address.empty()
                          ? address_for_others(address, runtime.runtime->capacity().address)
                          : options.manager_address;
    addresses.push_back("managers:" + address);
}

void Daemon::Parts::listen() {
    listen_api();
    if (role) listen_managers();
    listen_metrics();
}

void Daemon::Parts::serve() {
    log::set_listener([this](log::Level level, std::string_view message, const log::Fields& fields) {
        publish_log(events, level, message, fields);
    });
    role ? serve_among_others() : serve_alone();
}

// Operations that are recovered may tell instances of the certificate.
void Daemon::Parts::serve_alone() {
    make_tls();
    management.recover();
    failpoint("server.recovered");
    listen();
    server.start();
    failpoint("server.listens");
    management.start();
}

void Daemon::Parts::serve_among_others() {
    make_tls();
    listen();
    server.start();
    role->start(
        {manager_address, api_for_others(api_addresses, host_in(manager_address))},
        [this] { management.recover(); }, [this] { management.start(); });
}

// The API stays up while operations end, so that clients see how they ended.
bool Daemon::Parts::stop() {
    if (stopped) return true;
    stopped = true;
    if (role) role->resign();
    const bool idle = management.stop(options.shutdown_grace);
    if (role) role->stop_machine();
    server.stop(last_responses);
    if (role) role->stop_front();
    log::set_listener({});
    return idle;
}

Daemon::Daemon(Options options, ClusterSeams cluster)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(cluster))) {
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

std::vector<ServedRoute> Daemon::routes() const {
    std::vector<ServedRoute> routes;
    for (const Route& route : api_routes(parts_->services))
        routes.push_back(
            {std::string(to_text(route.method)) + " " + route.path, std::string(to_text(route.access))});
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

bool Daemon::stop() {
    return parts_->stop();
}

}  // namespace svc::server
