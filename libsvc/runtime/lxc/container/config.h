#pragma once
// A container's specification as text of liblxc's configuration. Pure functions.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/lxc/container/halt_signals.h"
#include "libsvc/runtime/lxc/host/binder.h"
#include "libsvc/runtime/lxc/host/limits.h"
#include "libsvc/runtime/lxc/launcher_kind.h"
#include "libsvc/runtime/lxc/layout.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// Mount points in the container, from its root.
constexpr std::string_view agent_path = "var/lib/svc-agent/bin/svc-agent";
constexpr std::string_view socket_dir_path = "var/lib/svc-agent/host";

// Facts about this machine and daemon that the configuration depends on.
struct ConfigContext {
    Layout layout;
    CgroupLayout cgroups;
    std::string cgroup_prefix;  // "svc-svcbr0"
    std::string bridge;
    unsigned bridge_mtu = 1500;
    std::string gateway;  // "192.168.100.1"
    unsigned prefix_length = 20;
    std::uint32_t id_base = 100000;  // of the owners on disk
    std::uint32_t id_count = 65536;
    std::filesystem::path agent;             // empty: not bound
    std::filesystem::path agent_socket_dir;  // empty: not bound
    std::filesystem::path
        common_config;  // the distribution's common.conf and userns.conf; empty: lines of config.cpp instead
    std::filesystem::path user_namespace_config;
    std::string shared_ids;  // why all containers share the range at id_base; empty: each has its own
    BinderSupport binder;    // a fault where Android guests cannot run for another reason, too
    bool apparmor = false;
    LauncherKind launcher{};
    std::uint32_t default_processes = 4096;
    double swap_rate = 1;
    IoLimits io = {};
    LimitSupport limit_support = {};
};

std::string cgroup_name(const ConfigContext& context, std::string_view id);  // "svc-svcbr0/<id>"
std::string monitor_cgroup_name(const ConfigContext& context,
                                std::string_view id);  // "svc-svcbr0/<id>.monitor"
// Of the host's end; 15 characters; differs between daemons, see device_prefix().
std::string device_name(std::string_view bridge, const Layout& layout, std::string_view id);

// A path as a field of a mount entry, where blanks separate the fields, as in fstab.
std::string mount_field(const std::filesystem::path& path);

// What a configuration says of the network; nothing when it lacks that.
struct ConfiguredNetwork {
    std::string device, address;
};
std::optional<ConfiguredNetwork> configured_network(std::string_view config);

// Whose configuration it is, and so which launcher has started the container that runs by it.
LauncherKind configured_launcher(std::string_view config);

// `root`: the host id of the container's root. `cores`: the cores that the container is pinned to; empty: it
// has a share of CPU time. Throws
// invalid_argument for a value that cannot stand on one line of the configuration, unsupported for a
// container with boot_by_agent where the daemon has no agent.
std::string lxc_config(const ContainerSpec& spec, const ConfigContext& context, std::uint32_t root,
                       const HaltSignals& halt, const std::vector<unsigned>& cores = {});

}  // namespace svc::lxc
