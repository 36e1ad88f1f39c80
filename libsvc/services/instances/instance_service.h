#pragma once
// Instances: what clients ask of them, and the parts that bring them up, take them down, follow what their
// agents report and repair what went wrong (specification: Containers).
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/timer.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/common/snapshot_records.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/instances/base_instances.h"
#include "libsvc/services/instances/end/instance_expiry.h"
#include "libsvc/services/instances/end/node_evacuations.h"
#include "libsvc/services/instances/instance_pauses.h"
#include "libsvc/services/instances/instance_restarts.h"
#include "libsvc/services/instances/launch/instance_launcher.h"
#include "libsvc/services/instances/pool/pool_claims.h"
#include "libsvc/services/instances/pool/pool_keeper.h"
#include "libsvc/services/instances/pool/pool_room.h"
#include "libsvc/services/instances/repair/instance_reconciler.h"
#include "libsvc/services/instances/repair/unpublished_events.h"
#include "libsvc/services/instances/reports/instance_reports.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/services/trust/agent_tokens.h"

namespace svc {

struct InstanceServiceOptions {
    Duration boot_timeout = std::chrono::minutes(15);  // launch to `running`
    Duration stop_grace = std::chrono::seconds(30);
    Duration linger = std::chrono::seconds(60);  // a self-stopped instance is removed after this
    std::filesystem::path log_dir;               // <state>/logs: where earlier versions kept logs, by id
    std::uint64_t max_log_bytes = std::uint64_t{16} << 20;  // tail kept
    std::string boot_id{};                                  // of the machine; "": the kernel is asked
    std::function<void(const Expiry&)> on_expiry{};         // told of each; called by a thread of this
};

struct InstanceServiceParts {
    Instances& instances;
    InstanceListener& listener;  // of these records
    Nodes& node_records;
    const Images& images;  // read only, like the next two: what a launch is made from
    const Applications& applications;
    const Addons& addons;
    const Snapshots& snapshots;
    ConfigService& config;
    Content& content;
    NodeService& nodes;
    Runtime& runtime;
    Engine& engine;
    EventBus& events;
    AgentTokens& tokens;
    Clock& clock;
    IdSource& ids;
    AgentSession session_template;  // as GuestSessions has it, like the next
    std::function<ServiceReach()> service_reach;
    InstanceServiceOptions options;
};

// Thread-safe. Registers "instance.launch", "instance.start", "instance.stop", "instance.pause",
// "instance.resume", "instance.restart", "instance.protect", "instance.extend", "instance.delete",
// "instance.fail", "instance.recheck", "instance.claim" with the engine. Until recover() it only reads. Stop
// the engine before destroying this.
class InstanceService {
  public:
    explicit InstanceService(InstanceServiceParts parts);
    ~InstanceService();
    InstanceService(const InstanceService&) = delete;
    InstanceService& operator=(const InstanceService&) = delete;

    // For the leader, once, before the engine recovers operations and after NodeService::recover(): adopts
    // what the records hold of nodes and layers, tells events of an earlier process, and listens to the
    // runtime from now on.
    void recover();

    // `no_wait`: the operation ends when the instance is prepared and its start queued; else when it is
    // running. Throws not_found, conflict for a name that is taken, invalid_argument.
    Started launch(const InstanceCreate& request, bool no_wait, PathWord word, const std::string& requestor);
    // Throws not_found, busy when it is being deleted, forbidden when it is protected.
    Started remove(std::string_view id, bool force, PathWord word, const std::string& requestor);
    // `status`: running, paused, stopped or restarted. Throws invalid_argument where the instance's state
    // does not allow it.
    Started set_desired_status(std::string_view id, std::string_view status, bool no_wait, PathWord word,
                               const std::string& requestor);
    // See NodeEvacuations.
    Started evacuate(std::string_view node, EvacuationMode mode, const std::string& requestor) {
        return evacuations_.start(node, mode, requestor);
    }
    // Removes what is left of an instance whose record cannot be read: its container, logs and reservations.
    void clear_unreadable(const std::string& id);
    // After the commit that removed its record: publishes that it is gone.
    void tell_cleared(const std::string& id, const std::string& requestor) const {
        changes_.publish("container-removed", id, requestor);
    }
    // Protects the instance from deletion by anybody, or no longer. The operation has nothing to wait for.
    Started protect(std::string_view id, bool wanted, PathWord word, const std::string& requestor);
    // Changes when the instance is deleted by itself. The operation has nothing to wait for.
    Started extend(std::string_view id, const LifetimeWish& wish, PathWord word,
                   const std::string& requestor);
    // Instances whose time is over are deleted from now on, until stop_expiry(). For the leader, after the
    // engine has recovered.
    void start_expiry();
    void stop_expiry() { expiry_.reset(); }
    // The artifacts that the instance of a token may fetch: those of its packages.
    std::vector<PackageRef> artifacts(std::string_view id) const;
    // The file of a stored log, one of Instance::stored_logs. Throws not_found "log not found"; may fetch it
    // from another manager.
    std::filesystem::path log(std::string_view id, std::string_view name) const;
    // See InstanceChanges::on_application_released().
    void on_application_released(InstanceChanges::Released listener);

    // Since the start of the instance was requested; nothing when the machine was booted after that.
    std::optional<Duration> since_start(const Instance& instance) const;

    const Instances& records() const { return parts_.instances; }
    InstanceUses& uses() { return uses_; }
    BaseInstances& base() { return base_; }
    InstanceReports& reports() { return reports_; }
    InstanceReconciler& reconciler() { return reconciler_; }
    PoolKeeper& pools() { return pool_keeper_; }
    const PoolPace& pool_pace() const { return pool_pace_; }

  private:
    void register_kinds();
    void adopt_unreadable(const std::string& id);
    std::string node_of(const ContainerSpec& container) const;
    Started launch_once(const InstanceCreate& request, bool no_wait, PathWord word,
                        const std::string& requestor);
    void check_name_is_free(const std::string& name) const;
    std::string remove_expired(const std::string& id, const std::string& requestor, const Lifetime& limits);
    // An operation whose first commit does everything. It claims nothing: another one may hold the instance.
    Started change_at_once(const char* kind, std::string_view id,
                           const std::function<void(Instance&)>& change, PathWord word,
                           const std::string& requestor);
    void require_addons(Batch& batch, const Instance& instance) const;
    [[noreturn]] void throw_unreadable(const std::string& id);
    Started launch_elsewhere(const Instance& instance, const std::string& successor,
                             const std::string& requestor);
    Started launch_like(Instance made, const std::string& requestor);
    Started remove_pooled(const std::string& id, const std::string& requestor);
    EvacuationCalls evacuation_calls();
    // `operation`, here and below: the id of the new operation, which is a part of a restart; "": any.
    Started start(const Instance& instance, bool no_wait, PathWord word, const std::string& requestor,
                  const std::string& operation = "");
    Started stop(const Instance& instance, PathWord word, const std::string& requestor,
                 const std::string& operation = "");
    Started pause(const Instance& instance, PathWord word, const std::string& requestor);
    Started resume(const Instance& instance, PathWord word, const std::string& requestor);
    Started restart(const Instance& instance, PathWord word, const std::string& requestor);
    RestartCalls restart_calls();

    // In the order of construction: each refers to some of those before it.
    InstanceServiceParts parts_;
    std::unique_ptr<Timer> timer_;
    StoredLogs logs_;
    BootClock boot_clock_;
    BootLimit limit_;
    GuestSessions sessions_;
    InstanceChanges changes_;
    PendingBoots boots_;
    EndHooks hooks_;
    InstanceFailures failures_;
    AbandonedLaunches abandoned_;
    InstanceStops stops_;
    InstancePauses pauses_;
    InstanceDeletions deletions_;
    InstanceLauncher launcher_;
    InstanceRepair repair_;
    InstanceReports reports_;
    InstanceReconciler reconciler_;
    NewInstances new_instances_;
    BaseInstances base_;
    PoolPace pool_pace_;
    PoolRoom pool_room_;
    PoolClaims pool_claims_;
    PoolKeeper pool_keeper_;
    NodeEvacuations evacuations_;
    InstanceUses uses_;
    std::unique_ptr<InstanceExpiry> expiry_;  // null: it was not started
    bool recovered_ = false;
};

}  // namespace svc
