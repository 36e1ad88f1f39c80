#pragma once
// What a launch is made from: an image version with addons, or an application version. Pure functions over
// records.
#include <cstdint>
#include <string>
#include <vector>

#include "libsvc/model/cluster/config.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/common/snapshot_records.h"

namespace svc {

struct LaunchRecords {
    const Images& images;
    const Applications& applications;
    const Addons& addons;
    const Snapshots& snapshots;
};

// Result of find_launch_source(). Its version is fixed: a request without one got it here, and a repeated
// look-up uses pinned().
struct LaunchSource {
    Instance instance;             // everything but its identity, state and placement
    std::uint64_t root_bytes = 0;  // size of its layers; the disk cannot be smaller
};

// Throws not_found for what is unknown or going away ("application not found", "published application version
// not found", "image version not found", "addon not found" ...), invalid_argument for a version that is not
// active, services that overlap and a disk that is too small.
LaunchSource find_launch_source(const InstanceCreate& request, const LaunchRecords& records,
                                const ConfigValues& config);

// The request, naming the version that `source` has.
InstanceCreate pinned(InstanceCreate request, const LaunchSource& source);

// All features of `lists`, in order, without duplicates.
std::vector<std::string> merged_features(const std::vector<std::vector<std::string>>& lists);

}  // namespace svc
