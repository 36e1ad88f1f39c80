#pragma once
// Snapshots of instances: what the guest has written, kept as a layer (API extension instance_snapshots;
// docs/snapshots.md).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/model/instances/instance.h"

namespace svc {

struct SnapshotTag;
using SnapshotId = Id<SnapshotTag>;

enum class SnapshotStatus { creating, ready, deleting };
std::string_view to_text(SnapshotStatus status);

struct Snapshot {
    SnapshotId id;
    std::string name;  // unique among the snapshots of its instance; "": it is named by its id alone
    SnapshotStatus status = SnapshotStatus::creating;
    Time created_at{};
    std::uint64_t size = 0;  // bytes of the layer; 0 while it is made
    Instance instance;       // its record when the snapshot was asked for

    const std::string& instance_id() const { return instance.id.str(); }
    std::string layer() const { return "snapshot-" + id.str(); }  // name in the LayerStore
    std::vector<std::string> layers() const;  // all that make the disk, lowest first; layer() is the last
};

Json to_json(const Snapshot& snapshot);  // the record of the API
Json snapshot_to_store(const Snapshot& snapshot);
Snapshot snapshot_from_store(const Json& stored);

// Body of POST /1.0/instances/<id>/snapshots; throws invalid_argument.
struct SnapshotCreate {
    std::string name;
    static SnapshotCreate from_json(const Json& body);
};

}  // namespace svc
