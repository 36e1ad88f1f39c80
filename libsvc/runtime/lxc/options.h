#pragma once
// Options of the lxc runtime, set at start-up. docs/svcd.md explains the keys.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/runtime/lxc/disk/layer_limits.h"
#include "libsvc/runtime/lxc/host/limits.h"
#include "libsvc/runtime/lxc/launcher_kind.h"

namespace svc {

// Ports of this machine that guests may reach.
struct GuestPorts {
    bool tcp = true;  // else UDP
    std::uint16_t first = 0, last = 0;
};

// Another machine of the cluster.
struct PeerNetwork {
    std::string subnet;                  // "10.64.4.1/22", of its instances: address and prefix of its bridge
    std::string address;                 // of the machine, the next hop to that subnet
    std::vector<std::string> addresses;  // all others that the machine has
    bool operator==(const PeerNetwork&) const = default;
};

// What guests may reach of the other machines of a cluster, and how.
struct PeerOptions {
    std::vector<PeerNetwork> peers;  // as known at the start: rules hold from the first moment
    bool make_routes = true;         // false: the operator's, or a tunnel
    // Where other machines forward to their instances.
    std::uint16_t first_node_port = 10000, last_node_port = 11000;
};

struct LxcOptions {
    std::filesystem::path state_dir;          // "<state>/lxc", absolute
    std::string bridge = "svcbr0";            // at most 15 characters; one per daemon
    std::string subnet = "192.168.100.1/20";  // the bridge's own address and prefix
    std::uint32_t bridge_mtu = 1500;          // bytes
    std::filesystem::path agent;              // svc-agent on the host; empty: none is bound or started
    // Of containers that are started from now on. Empty: `own` where the machine allows it, else `liblxc`.
    std::optional<lxc::LauncherKind> launcher;
    // The programs svc-lxc and svc-launch. One that is not there is empty: nothing starts or enters a
    // container of that launcher then.
    std::filesystem::path helper, launch_helper;
    std::filesystem::path agent_socket_dir;  // holds server.unix; empty: not bound
    std::uint32_t id_base = 0;               // first host id of the owners on disk; 0: chosen by the runtime
    std::uint32_t id_count = 65536;          // ids per container
    // Ranges of their own for the containers that run: the first host id, a multiple of 65536, and how many.
    // None: all share the ids from id_base on.
    std::uint32_t first_range = 0x70000000;
    std::uint32_t ranges = 4096;
    std::filesystem::path range_registry = "/run/svc-lxc/ids";  // of all daemons of the machine
    std::string address;                     // of private services; empty: of the default route's interface
    std::string public_address;              // of exposed services; empty: same as `address`
    lxc::LayerLimits layer_limits;           // of what is unpacked and copied
    std::uint32_t processes = 4096;          // limit of a container whose specification names none
    std::vector<GuestPorts> guest_ports;     // what guests reach of this machine beside its answers to pings
    std::filesystem::path sysfs = "/sys";    // where the GPUs of the machine show
    std::filesystem::path devices = "/dev";  // where their device nodes are
    // What GPUs have besides, as files in these folders say; see CdiDevices.
    std::vector<std::filesystem::path> cdi = {"/etc/cdi", "/var/run/cdi"};
    bool isolate = true;                   // guests reach each other by node ports alone
    std::uint64_t bandwidth = 0;           // bits a second of each guest, in and out; 0: not limited
    std::uint32_t connections = 4096;      // of each guest, tracked at once; 0: not limited
    double swap_rate = 1;                  // of its memory, that a container may have swapped out besides
    std::uint64_t bytes_per_file = 16384;  // of its disk; a container may have as many files; 0: no limit
    lxc::IoLimits io = {};                 // of each container
    PeerOptions cluster;                   // Network::set_peers() changes the peers
    // Whether a container without spec.json holds data: one that was made once, as far as records tell, and
    // is not being removed. Asked at the start, for folders that would be leftovers else. Empty: none does.
    std::function<bool(const std::string& id)> holds_data;
};

}  // namespace svc
