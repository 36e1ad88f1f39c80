#pragma once
// Options of the lxd runtime, set at start-up. docs/runtime-lxd.md explains them.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "libsvc/net/client/target.h"
#include "libsvc/runtime/lxc/disk/layer_limits.h"
#include "libsvc/runtime/lxc/network/network.h"

namespace svc {

struct LxdOptions {
    Target target;                    // LXD's socket, or its HTTPS address; the LXD runs on this machine
    std::filesystem::path state_dir;  // "<state>/lxd", absolute: archives on their way, fetched logs
    std::string pool;                 // of disks; "": that of the profile `default`
    lxc::NetworkOptions network;      // the bridge's name marks what belongs to this service
    std::uint32_t processes = 4096;   // of a container that has no number of its own
    std::filesystem::path agent;      // the program svc-agent, which waits and makes terminals inside
    std::filesystem::path agent_socket_dir;  // empty: not bound
    lxc::LayerLimits layer_limits;
    std::filesystem::path sysfs = "/sys";  // where the GPUs of the machine show
    bool joined = false;                   // this manager has made the LXD a member of its cluster
    std::function<void()> on_left = {};    // the LXD is not the member any more that it was; from any thread
};

}  // namespace svc
