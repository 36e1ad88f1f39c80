#include "libsvc/runtime/lxc/container/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/container/apparmor_profile.h"
#include "libsvc/runtime/lxc/container/device_nodes.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"

namespace svc::lxc {

namespace {

void check_one_line(std::string_view what, std::string_view value) {
    const bool clean =
        std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (!clean) throw Error(ErrorCode::invalid_argument, fmt::format("{} has control characters", what));
}

constexpr std::string_view own_launcher_line = "svc.launcher = own\n";

// Leaves out the hooks that other packages add there (lxcfs): they need another PATH than the daemon gives
// liblxc.
std::string base_lines(const ConfigContext& context) {
    const bool own = context.launcher == LauncherKind::own;
    if (!context.common_config.empty() && !own)
        return fmt::format(
            "lxc.include = {}\nlxc.include = {}\nlxc.mount.auto =\nlxc.hook.mount =\nlxc.hook.post-stop =\n",
            context.common_config.native(), context.user_namespace_config.native());
    // As in the distributions' files for a user namespace: every capability, within the namespace.
    return std::string(own ? own_launcher_line : "") +
           "lxc.pty.max = 1024\nlxc.tty.max = 4\n"
           "lxc.mount.entry = /sys/fs/fuse/connections sys/fs/fuse/connections none bind,optional 0 0\n";
}

std::string network_lines(const ContainerSpec& spec, const ConfigContext& context) {
    return fmt::format(
        "lxc.net.0.type = veth\nlxc.net.0.link = {}\nlxc.net.0.flags = up\nlxc.net.0.name = eth0\n"
        "lxc.net.0.mtu = {}\nlxc.net.0.hwaddr = {}\nlxc.net.0.veth.pair = {}\nlxc.net.0.ipv4.address = "
        "{}/{}\n"
        "lxc.net.0.ipv4.gateway = {}\n",
        context.bridge, context.bridge_mtu, hardware_address(spec.address),
        device_name(context.bridge, context.layout, spec.id), spec.address, context.prefix_length,
        context.gateway);
}

std::string apparmor_lines(const ConfigContext& context, std::string_view id) {
    if (!context.apparmor) return "lxc.apparmor.profile = unconfined\n";
    if (context.launcher == LauncherKind::liblxc)
        return "lxc.apparmor.profile = generated\nlxc.apparmor.allow_nesting = 1\n";
    return fmt::format("svc.apparmor = {} {}\n", guest_profile_name(context.bridge),
                       policy_namespace_name(context.bridge, id));
}

// The agent is the first program; it gets the init as arguments and executes it later.
std::string init_command(const ContainerSpec& spec, const ConfigContext& context) {
    std::string init = spec.first_program();
    if (!spec.boot_by_agent) return init;
    if (context.agent.empty())
        throw Error(ErrorCode::unsupported,
                    fmt::format("container '{}' boots by an agent, and there is none", spec.id));
    return fmt::format("/{} --boot -- {}", agent_path, init);
}

std::string gpu_lines(const ContainerSpec& spec, const ConfigContext& context) {
    std::string lines;
    for (const std::string& gpu : spec.gpus)
        lines +=
            fmt::format("lxc.mount.entry = {} dev/dri/{} none bind,nosuid,noexec,create=file 0 0\n",
                        mount_field(context.layout.devices(spec.id) / render_node(gpu)), render_node(gpu));
    return lines;
}

// Priorities count among the guest's own processes: its share of the processors stays what it is.
std::string android_lines(const ContainerSpec& spec, const ConfigContext& context) {
    if (!spec.android) return "";
    std::string lines = "lxc.prlimit.nofile = 32768\nlxc.prlimit.nice = 40\n";
    if (context.binder.file_system) return lines;  // svc-agent mounts it
    for (const char* name : binder_names)
        lines += fmt::format("lxc.mount.entry = {} dev/{} none bind,nosuid,noexec,create=file 0 0\n",
                             mount_field(context.layout.devices(spec.id) / name), name);
    return lines;
}

std::string mount_lines(const ConfigContext& context) {
    std::string lines;
    if (!context.agent.empty())
        lines += fmt::format("lxc.mount.entry = {} {} none bind,ro,nosuid,nodev,create=file 0 0\n",
                             mount_field(context.agent), agent_path);
    if (!context.agent_socket_dir.empty())
        lines += fmt::format("lxc.mount.entry = {} {} none bind,ro,nosuid,nodev,noexec,create=dir 0 0\n",
                             mount_field(context.agent_socket_dir), socket_dir_path);
    return lines;
}

// For svc-launch, which does not look for them.
std::string hierarchy_lines(const CgroupLayout& layout) {
    std::map<std::filesystem::path, std::vector<std::string>> controllers;
    for (const auto& [controller, mount] : layout.v1) controllers[mount].push_back(controller);
    std::string lines;
    for (const std::filesystem::path& mount : layout.hierarchies) {
        const auto found = controllers.find(mount);
        const std::string_view kind = mount == layout.v2 ? "v2" : found == controllers.end() ? "named" : "v1";
        lines += fmt::format("svc.hierarchy = {} {} {}\n", kind,
                             found == controllers.end() ? "-" : join(found->second, ","), mount_field(mount));
    }
    return lines;
}

// The kernel removes the counter with the group, so a hook of liblxc copies it before.
std::string cgroup_lines(const ContainerSpec& spec, const ConfigContext& context,
                         const std::vector<unsigned>& cores) {
    const std::string group = cgroup_name(context, spec.id);
    const std::uint32_t processes = spec.processes == 0 ? context.default_processes : spec.processes;
    std::string lines = context.launcher == LauncherKind::own ? hierarchy_lines(context.cgroups) : "";
    lines += fmt::format("lxc.cgroup.dir.container = {}\nlxc.cgroup.dir.monitor = {}\n", group,
                         monitor_cgroup_name(context, spec.id));
    lines += limit_lines(context.cgroups,
                         {spec.cpus, spec.memory_bytes, processes, cores, context.io, context.swap_rate},
                         context.limit_support);
    const std::filesystem::path counter = oom_counter(context.cgroups, group);
    if (!counter.empty())
        lines += fmt::format("lxc.hook.stop = /bin/cat '{}' > '{}' 2>/dev/null; :\n", counter.native(),
                             context.layout.oom_file(spec.id).native());
    return lines;
}

}  // namespace

std::string mount_field(const std::filesystem::path& path) {
    std::string field;
    for (const char c : path.native())
        if (c == ' ')
            field += "\\040";
        else if (c == '\t')
            field += "\\011";
        else if (c == '\\')
            field += "\\134";
        else
            field += c;
    return field;
}

std::string cgroup_name(const ConfigContext& context, std::string_view id) {
    return fmt::format("{}/{}", context.cgroup_prefix, id);
}

std::string monitor_cgroup_name(const ConfigContext& context, std::string_view id) {
    return fmt::format("{}/{}.monitor", context.cgroup_prefix, id);
}

std::string device_name(std::string_view bridge, const Layout& layout, std::string_view id) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    const std::string path = layout.container(id).native();
    for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::string name = device_prefix(bridge);
    for (; name.size() < 15; hash /= 32) name += "0123456789abcdefghijklmnopqrstuv"[hash % 32];
    return name;
}

std::optional<ConfiguredNetwork> configured_network(std::string_view config) {
    const auto value = [&](std::string_view key) {
        const std::size_t at = config.find("\n" + std::string(key) + " = ");
        if (at == std::string_view::npos) return std::string();
        const std::string_view rest = config.substr(at + key.size() + 4);
        return std::string(rest.substr(0, rest.find('\n')));
    };
    const std::string address = value("lxc.net.0.ipv4.address");
    ConfiguredNetwork network{value("lxc.net.0.veth.pair"), address.substr(0, address.find('/'))};
    if (network.device.empty() || network.address.empty()) return std::nullopt;
    return network;
}

LauncherKind configured_launcher(std::string_view config) {
    return config.starts_with(own_launcher_line) ? LauncherKind::own : LauncherKind::liblxc;
}

std::string lxc_config(const ContainerSpec& spec, const ConfigContext& context, std::uint32_t root,
                       const HaltSignals& halt, const std::vector<unsigned>& cores) {
    const std::string init = init_command(spec, context);
    check_one_line("name", spec.name);
    check_one_line("init", init);
    const std::string& id = spec.id;
    const std::uint32_t ids = spec.android ? android_ids : context.id_count;
    std::string text = base_lines(context);
    text += fmt::format(
        "lxc.uts.name = {}\nlxc.rootfs.path = dir:{}\nlxc.idmap = u 0 {} {}\nlxc.idmap = g 0 {} {}\n",
        spec.name, context.layout.rootfs(id).native(), root, ids, root, ids);
    text += apparmor_lines(context, id);
    text += fmt::format("lxc.seccomp.profile = {}\n", context.layout.seccomp().native());
    text += "lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed\n";
    text += fmt::format("lxc.init.cmd = {}\nlxc.signal.halt = {}\n", init, halt.name);
    text += fmt::format("lxc.console.logfile = {}\nlxc.console.size = 1MB\n",
                        context.layout.console_log(id).native());
    text += fmt::format("lxc.log.file = {}\nlxc.log.level = ERROR\n", context.layout.lxc_log(id).native());
    text += network_lines(spec, context) + mount_lines(context) + gpu_lines(spec, context) +
            android_lines(spec, context) + cgroup_lines(spec, context, cores);
    return text;
}

}  // namespace svc::lxc
