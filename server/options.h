#pragma once
// Everything the daemon is told at its start: flags over the configuration file over defaults. Read once into
// one const value; nothing else looks at the command line, a file or the environment.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/log.h"
#include "libsvc/formats/archive_limits.h"
#include "libsvc/net/server/server.h"
#include "libsvc/runtime/lxc/host/limits.h"
#include "libsvc/runtime/lxc/options.h"
#include "libsvc/runtime/simulated/simulated_command.h"
#include "server/cluster/etcd_settings.h"
#include "server/process/configuration.h"

namespace svc::server {

// Values of the `lxc` runtime alone.
struct LxcSettings {
    std::string bridge = "svcbr0";
    std::string subnet = "192.168.100.1/20";
    bool subnet_given = false;
    std::string cluster_subnet = "10.64.0.0/12";  // of all machines of a cluster; where no subnet was given
    unsigned node_prefix = 22;                    // of the part of each
    bool cluster_routes = true;
    std::vector<PeerNetwork> peers = {};  // other machines, as known at the start. No flag
    std::uint32_t bridge_mtu = 1500;
    std::string address;         // "": of the default route's interface
    std::string public_address;  // "": same as `address`
    std::uint32_t id_base = 0;   // 0: from /etc/subuid
    std::uint32_t id_count = 65536;
    std::uint32_t id_ranges = 4096;
    std::uint32_t id_ranges_from = 0x70000000;
    std::uint32_t processes = 4096;
    double swap_rate = 1;
    std::uint64_t bytes_per_file = 16384;
    lxc::IoLimits io = {};
    std::vector<GuestPorts> guest_ports;    // empty: none
    std::vector<std::string> name_servers;  // of Android guests; empty: the guest's own
    bool isolate = true;
    std::uint64_t bandwidth = 0;                  // bits a second of each instance; 0: not limited
    std::uint32_t connections = 4096;             // of each instance; 0: not limited
    std::filesystem::path agent;                  // "": beside the program
    std::optional<lxc::LauncherKind> launcher;    // empty: as the machine allows
    std::filesystem::path helper, launch_helper;  // "": beside the program
};

// Values of the `lxd` runtime alone; the network's and the agent are those of `lxc`.
struct LxdSettings {
    std::string url = "unix:///var/lib/lxd/unix.socket";
    std::filesystem::path certificate, key, server_certificate;  // of https://
    std::string pool;                                            // "": that of the profile `default`
    bool join = false;  // the LXD of this machine becomes a member of that of the other managers
    std::string pool_driver = "dir", pool_size, pool_source;  // of a pool that is made; "": as LXD chooses
    bool joined = false;                                      // that was done. No setting
};

// Values of the `simulated` runtime alone.
struct SimulatedSettings {
    Duration start_delay{0};
    Duration stop_delay{0};
    double fail_share = 0;
    std::uint32_t cpus = 64;
    std::uint64_t memory = std::uint64_t{1} << 40U;  // bytes
    std::uint32_t nodes = 0;          // machines "sim1", "sim2" ...; 0: one, with the name of this one
    std::string part;                 // of the network of a cluster; "": all of it. No flag
    SimulatedStreamer streamer = {};  // what shows the screens of guests; empty: none does. No flag
    std::string subnet;  // as that of `lxc`: whose clients count as instances; "": nobody. No flag
};

struct Options {
    std::filesystem::path config;  // the file that was read; "": none
    bool check_only = false;
    bool tear_down = false;

    std::filesystem::path state_dir = "/var/lib/svc";
    std::filesystem::path socket = "/run/svc/unix.socket";
    std::vector<std::string> listen{"[::]:8444"};      // empty: off
    std::string metrics_listen = "127.0.0.1:20002";    // "": off
    std::string hypervisor_listen = "127.0.0.1:8443";  // "": off
    std::string runtime = "lxc";
    bool require_disk_limits = false;  // no start where the runtime cannot limit disks
    std::string store = "sqlite";
    EtcdSettings etcd;
    std::filesystem::path blob_dir;  // packages of all managers; "": each has its own in its state directory
    log::Level log_level = log::Level::info;
    LxcSettings lxc;
    LxdSettings lxd;
    SimulatedSettings simulated;

    std::string node_name;       // "": the host name. Also the name of this manager among several
    std::string manager_listen;  // "": the only manager
    Duration leader_patience = std::chrono::seconds(15);  // of requests while no manager leads. No flag
    std::string manager_address;                          // where the others reach it; "": manager_listen
    std::uint16_t first_port = 10000, last_port = 11000;
    double cpu_allocation_rate = 4, memory_allocation_rate = 2;  // of this machine's node at its first start
    Duration boot_timeout = std::chrono::minutes(15);
    Duration stop_grace = std::chrono::seconds(30);  // of an instance
    Duration linger = std::chrono::seconds(60);
    Duration shutdown_grace = std::chrono::seconds(10);  // of the daemon's own work
    std::uint64_t max_log = std::uint64_t{16} << 20U;    // bytes

    ServerLimits limits;
    std::size_t peer_connections = 256;     // of an address that is not trusted
    std::size_t instance_connections = 64;  // of an instance
    unsigned io_threads = 2;
    std::size_t workers = 8;                     // threads that run requests
    std::size_t request_queue = 10'000;          // requests waiting for one of them
    std::size_t max_requests_per_second = 1000;  // of each source that is not trusted; more are delayed
    std::uint64_t max_body = std::uint64_t{1} << 20U;
    std::uint64_t max_upload = std::uint64_t{16} << 30U;
    std::uint64_t disk_reserve = std::uint64_t{64} << 20U;  // uploads and layers leave so many bytes free
    ArchiveLimits unpacked;
    std::size_t operation_workers = 12;
    std::size_t bootstraps = 4;  // of applications, at once
    std::size_t operation_queue = 20'000;
    std::size_t keep_operations = 1000;
    Duration keep_operations_for = std::chrono::hours(24);
    std::size_t event_queue_bytes = std::size_t{4} << 20U;
    std::size_t event_queue_messages = 10'000;
};

// What guests may reach of the other machines of a cluster.
PeerOptions peer_options(const Options& options);

using Invocation = process::Invocation<Options>;

// Reads flags and file. Throws invalid_argument naming file, line and key. `default_config` is read when it
// exists and no --config is given.
Invocation read_options(int argc, const char* const* argv,
                        const std::filesystem::path& default_config = "/etc/svc/svcd.yaml");

}  // namespace svc::server
