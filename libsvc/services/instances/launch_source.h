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

// The version is settled: what the request left open, and what a second look must find again.
struct LaunchSource {
    Instance instance;             // everything but its identity, state and placement
    std::uint64_t root_bytes = 0;  // what its layers hold: the disk cannot be smaller
};

// Throws not_found for what is unknown or going away ("application not found", "published application version
// not found", "image version not found", "addon not found" ...), invalid_argument for a version that is not
// active, services that overlap and a disk that is too small.
LaunchSource find_launch_source(const InstanceCreate& request, const LaunchRecords& records,
                                const ConfigValues& config);

// The request with the version named that `source` has settled on.
InstanceCreate pinned(InstanceCreate request, const LaunchSource& source);

// In their order, each once.
std::vector<std::string> merged_features(const std::vector<std::vector<std::string>>& lists);

}  // namespace svc
