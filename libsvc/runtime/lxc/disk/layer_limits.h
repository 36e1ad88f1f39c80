#pragma once
// Bounds of what the runtime writes to the disk in bulk.
#include "libsvc/base/disk_room.h"
#include "libsvc/formats/archive_limits.h"

namespace svc::lxc {

struct LayerLimits {
    DiskFloor floor;  // left free by unpacking, snapshots and restores
    ArchiveLimits unpacked;
};

}  // namespace svc::lxc
