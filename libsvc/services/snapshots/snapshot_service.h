#pragma once
// Rules of snapshots: take, restore, export, delete (API extensions instance_snapshots and snapshot_export;
// docs/snapshots.md). Launching from one is a launch like any other: services/instances.
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/common/snapshot_records.h"

namespace svc {

struct SnapshotServiceParts {
    Snapshots& snapshots;        // written here alone
    const Instances& instances;  // read only
    Content& content;
    Engine& engine;
    EventBus& events;
    Clock& clock;
    IdSource& ids;
};

// An export that is about to be sent.
struct SnapshotExport {
    std::unique_ptr<ArchiveStream> archive;  // keeps the layers until it is destroyed
    std::string file_name;                   // "phone-<id>.tar.gz"
};

// Thread-safe. Registers "snapshot.create", "snapshot.restore", "snapshot.delete", each resumable. While one
// of the first two is going on it holds the claim of the instance, so that nothing starts or deletes that.
// Copies run on two threads of their own, not on workers of the engine. Stop the engine before destroying
// this.
class SnapshotService {
  public:
    explicit SnapshotService(SnapshotServiceParts parts);

    // Copies the disk of a stopped instance. Throws not_found; conflict "snapshot ... already exists"; busy;
    // invalid_argument "only the disk of a stopped instance can be copied".
    Started create(std::string_view instance, const SnapshotCreate& request, const std::string& requestor);
    // Makes the disk of its instance, which must be stopped or failed, a copy of the snapshot. What was
    // written since then is lost.
    Started restore(std::string_view instance, std::string_view snapshot, const std::string& requestor);
    // Instances that were launched from it keep what they need of it.
    Started remove(std::string_view instance, std::string_view snapshot, const std::string& requestor);

    // The whole disk as an image package, the same bytes each time. It needs neither the snapshot nor the
    // instance once this has returned. Throws not_found; invalid_argument "snapshot is not ready".
    SnapshotExport export_archive(std::string_view instance, std::string_view snapshot) const;

    // By id or name. Throws not_found, also for a snapshot of another instance.
    std::shared_ptr<const Snapshot> get(std::string_view instance, std::string_view snapshot) const;
    std::vector<std::shared_ptr<const Snapshot>> list(std::string_view instance) const;  // oldest first
    // Starts deleting the snapshots whose instances are gone; a periodic job.
    void remove_orphans();

  private:
    using Ptr = std::shared_ptr<const Snapshot>;

    OperationSpec spec_for(const char* kind, const char* description, const Snapshot& snapshot,
                           std::string requestor) const;
    Ptr of(const Operation& operation) const;  // null: it is gone
    void check_name_is_free(const std::string& instance, const std::string& name,
                            const SnapshotId& own) const;
    Started start_removal(const Ptr& snapshot, const std::string& requestor);

    using Work = OperationResult (SnapshotService::*)(const Operation&, const std::stop_token&);
    void handle(const char* kind, Work work,
                std::function<OperationResult(const Operation&, const Error&)> undo);
    OperationResult copy_disk(const Operation& operation, const std::stop_token& stop);
    OperationResult drop_copy(const Operation& operation);
    OperationResult copy_back(const Operation& operation, const std::stop_token& stop);
    OperationResult erase(const Operation& operation, const std::stop_token& stop);
    OperationResult keep(const Operation& operation);  // after its deletion failed
    bool is_being_deleted(const Snapshot& snapshot) const;
    OperationResult forget(const Snapshot& snapshot, const char* event, const std::string& requestor);
    void publish(const char* action, const Snapshot& snapshot, const std::string& requestor) const;

    SnapshotServiceParts parts_;
    ThreadPool copies_;  // last: what runs on it uses all of the above
};

}  // namespace svc
