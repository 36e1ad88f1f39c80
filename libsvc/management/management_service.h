#pragma once
// The whole management service as one object: the operation engine and every service, built in the right
// order, connected with each other, started and stopped. svcd, the tests and every program that embeds the
// service use this composition and no other. What is not in here: HTTP, TLS, metrics, and the choice of the
// seams' implementations. docs/architecture.md has the order of start and stop, docs/embedding.md an
// example of a program that embeds the service.
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "libsvc/base/periodic.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/management/cluster_records.h"
#include "libsvc/management/follower.h"
#include "libsvc/management/guest_reports.h"
#include "libsvc/management/unreadable_records.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/captures/capture_service.h"
#include "libsvc/services/common/bulk_deletion.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/exec/exec_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/services/images/image_sync.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/services/nodes/placed_containers.h"
#include "libsvc/services/registry/registry_service.h"
#include "libsvc/services/snapshots/snapshot_service.h"
#include "libsvc/services/trust/agent_tokens.h"
#include "libsvc/services/trust/certificate_service.h"
#include "libsvc/services/trust/oidc/oidc_login.h"
#include "libsvc/services/trust/session_service.h"

namespace svc {

// What the service stands on. The caller owns all of it and keeps it until the ManagementService is
// destroyed.
struct ManagementSeams {
    Store& store;
    BlobStore& blobs;
    Runtime& runtime;
    LayerStore& layers;
    EventBus& events;  // with the window of recent events; its subscribers may outlive the service
    Clock& clock;
    IdSource& ids;
    // The path by which a simulated runtime reports that its guests are up; null: agents report through the
    // API. The service opens it in recover() and closes it in stop().
    GuestReports* guest_reports = nullptr;
    ImageServerFactory open_image_server = svc::open_image_server;  // by images.url of the configuration
    CatalogueFactory open_catalogue = svc::open_catalogue;          // by registry.url of the configuration
    IdentityServerFactory open_identity_server = svc::open_identity_server;  // by oidc.issuer, likewise
    MachineCluster* machine_cluster = nullptr;  // what joins the machines below the runtime; null: nothing
};

struct ManagementOptions {
    std::filesystem::path token_secret;   // file; made at first use, mode 0600
    std::filesystem::path registry_keys;  // folder of client.crt and client.key; made at first use
    EngineOptions engine;
    NodeServiceOptions nodes;
    InstanceServiceOptions instances;
    AgentSession session_template;  // how instances reach the service by its socket
    // How else they reach it, asked at each launch; empty: by load_balancer.url alone, whose certificate is
    // checked against authorities.
    std::function<ServiceReach()> service_reach = {};
    std::filesystem::path apk_parser = "/usr/bin/aapt";
    Duration bootstrap_limit = std::chrono::minutes(15);
    std::size_t bootstraps_at_once = 4;
    // Fewer than engine.workers, so that workers are left for other work.
    std::size_t bulk_deletions_at_once = 8;
    std::vector<PeriodicJob> jobs =
        {};  // of the owner; they run with the service's own, from start() to stop()
};

// One thread constructs it, calls recover(), start() and stop(), and destroys it; the services it hands out
// are thread-safe and live as long as it does. Its threads: those of the engine and of the services; from
// start() on one for the first reconciliation, one for all periodic jobs, one that follows the image server,
// one that follows the registry. The constructor and recover() throw Error when the store or the runtime
// cannot be read.
class ManagementService {
  public:
    // Reads the records, builds and connects the services. Writes nothing and asks the runtime for its
    // architecture alone: until recover() the services answer questions from records, which follow the store,
    // whoever changes it. Nothing may be changed through them before.
    ManagementService(ManagementSeams seams, ManagementOptions options);
    // stop(0), then waits until the followers' last runs and the work that goes on have ended. Whoever serves
    // requests from other threads ends those threads before.
    ~ManagementService();
    ManagementService(const ManagementService&) = delete;
    ManagementService& operator=(const ManagementService&) = delete;

    // Becomes the leader: brings the nodes' records up to date, derives from the records what is reserved and
    // held, continues or ends the operations that an earlier leader left unfinished, then takes the guests'
    // reports. Once, when the records in memory are those of the store, and before requests that change
    // anything are served.
    void recover();
    // recover() unless that was called; then starts what runs by itself: the first reconciliation, the
    // periodic jobs, the deletion of instances whose time is over, the followers. Once.
    void start();
    // No new operations; cancels what can be cancelled, gives the rest `grace`, then ends the periodic jobs
    // and gives the followers 2 s. The services still answer questions afterwards. Instances keep running.
    // False when work was still going on: the destructor would wait for it, so a process that ends anyway
    // exits without destroying this; the next start recovers that work. Repeatable.
    bool stop(Duration grace);
    // After stop(): waits until logins and passwords that are being checked are answered, and calls no
    // listener of certificates, sessions and expiries any more. Whoever they call may end then.
    void detach();

    ClusterRecords& records() { return records_; }
    Content& content() { return content_; }
    Engine& engine() { return engine_; }
    AgentTokens& tokens() { return tokens_; }
    ConfigService& config() { return config_; }
    CertificateService& certificates() { return certificates_; }
    BrowserSessionService& sessions() { return sessions_; }
    OidcLogin& oidc() { return oidc_; }
    NodeService& nodes() { return nodes_; }
    AddonService& addons() { return addons_; }
    ImageService& images() { return images_; }
    ImageSync& image_sync() { return image_sync_; }
    InstanceService& instances() { return instances_; }
    ApplicationService& applications() { return applications_; }
    RegistryService& registry() { return registry_; }
    ExecService& exec() { return exec_; }
    CaptureService& captures() { return captures_; }
    SnapshotService& snapshots() { return snapshots_; }
    BulkDeletion& bulk_deletion() { return bulk_; }
    UnreadableRecords& unreadable() { return unreadable_; }

  private:
    // Reports end with the service, also when its construction fails: the runtime waits for them.
    struct ReportsEnd {
        GuestReports* reports;
        ~ReportsEnd() {
            if (reports != nullptr) reports->close();
        }
    };

    void reconcile_first();
    bool is_idle() const;
    bool stop_followers(Duration limit);

    // In the order of construction: each uses only what stands above it.
    const ManagementSeams seams_;
    ReportsEnd reports_end_{seams_.guest_reports};
    ClusterRecords records_;
    PlacedContainers containers_;
    Content content_;
    Engine engine_;
    AgentTokens tokens_;
    ConfigService config_;
    CertificateService certificates_;
    BrowserSessionService sessions_;
    OidcLogin oidc_;
    NodeService nodes_;
    AddonService addons_;
    ImageService images_;
    ImageSync image_sync_;
    InstanceService instances_;
    ApplicationService applications_;
    RegistryService registry_;
    ExecService exec_;
    CaptureService captures_;
    SnapshotService snapshots_;
    BulkDeletion bulk_;
    UnreadableRecords unreadable_;
    Follower image_follower_, registry_follower_;
    bool recovered_ = false;
    std::vector<PeriodicJob> jobs_;  // of the owner
    std::jthread first_reconciliation_;
    std::optional<Periodic> periodic_;
};

}  // namespace svc
