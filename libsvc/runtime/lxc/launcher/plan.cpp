#include "libsvc/runtime/lxc/launcher/plan.h"

#include <linux/mount.h>
#include <sys/resource.h>

#include <array>

#include "libsvc/runtime/lxc/launcher/plan_text.h"

namespace svc::lxc {

namespace {

void take_option(BindMount& mount, std::string_view option) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> flags = {{
        {"ro", MOUNT_ATTR_RDONLY},
        {"nosuid", MOUNT_ATTR_NOSUID},
        {"nodev", MOUNT_ATTR_NODEV},
        {"noexec", MOUNT_ATTR_NOEXEC},
    }};
    for (const auto& [name, flag] : flags)
        if (option == name) return void(mount.flags |= flag);
    if (option == "bind") return;
    if (option == "optional") return void(mount.optional = true);
    if (option == "create=file") return void(mount.create = BindMount::Create::file);
    if (option == "create=dir") return void(mount.create = BindMount::Create::folder);
    refuse("unknown mount option", option);
}

void add_mount(Plan& plan, std::string_view value) {
    const std::vector<std::string> fields = words(value);
    if (fields.size() < 4 || fields[2] != "none") refuse("no bind mount:", value);
    BindMount mount{unescaped(fields[0]), unescaped(fields[1])};
    std::string_view options = fields[3];
    while (!options.empty()) {
        const std::size_t end = std::min(options.find(','), options.size());
        take_option(mount, options.substr(0, end));
        options.remove_prefix(std::min(end + 1, options.size()));
    }
    plan.mounts.push_back(std::move(mount));
}

// "u 0 1879048192 65536", likewise for groups: one range for both.
void take_ids(Plan& plan, std::string_view value) {
    const std::vector<std::string> fields = words(value);
    const bool users = fields.size() == 4 && fields[0] == "u";
    if (fields.size() != 4 || fields[1] != "0" || !(users || fields[0] == "g")) refuse("no id map:", value);
    (users ? plan.maps_users : plan.maps_groups) = true;
    const unsigned first = small_number(fields[2]);
    const unsigned count = small_number(fields[3]);
    if (plan.id_count != 0 && (first != plan.first_id || count != plan.id_count))
        refuse("users and groups differ:", value);
    plan.first_id = first;
    plan.id_count = count;
}

void take_address(GuestNetwork& network, std::string_view value) {
    const std::size_t slash = value.find('/');
    if (slash == std::string_view::npos) refuse("no address:", value);
    network.address = value.substr(0, slash);
    network.prefix = small_number(value.substr(slash + 1), 32);
}

void expect(std::string_view value, std::string_view expected) {
    if (value != expected) refuse("the launcher does not know", value);
}

// "v1 cpu,cpuacct /sys/fs/cgroup/cpu,cpuacct", "named - /sys/fs/cgroup/systemd", "v2 - /sys/fs/cgroup"
void add_hierarchy(Plan& plan, std::string_view value) {
    const std::vector<std::string> fields = words(value);
    if (fields.size() != 3) refuse("no hierarchy:", value);
    using Kind = Hierarchy::Kind;
    const bool known = fields[0] == "v1" || fields[0] == "v2" || fields[0] == "named";
    if (!known) refuse("no hierarchy:", value);
    const Kind kind = fields[0] == "v2"      ? Kind::version_2
                      : fields[0] == "named" ? Kind::named
                                             : Kind::version_1;
    plan.hierarchies.push_back({kind, fields[1], unescaped(fields[2])});
}

// "svc-guest-svcbr0 svc-svcbr0.ID"
void take_confinement(Plan& plan, std::string_view value) {
    const std::vector<std::string> names = words(value);
    if (names.size() != 2 || names[1].find('/') != std::string::npos) refuse("no confinement:", value);
    plan.confinement = Confinement{names[0], names[1]};
}

using Taker = void (*)(Plan&, std::string_view);

GuestNetwork& network_of(Plan& plan) {
    if (!plan.network) plan.network.emplace();
    return *plan.network;
}

struct Key {
    std::string_view name;
    Taker take;
};

constexpr std::array keys = {
    Key{"lxc.uts.name", [](Plan& p, std::string_view v) { p.host_name = v; }},
    Key{"lxc.rootfs.path",
        [](Plan& p, std::string_view v) {
            if (!v.starts_with("dir:")) refuse("no folder:", v);
            p.root = v.substr(4);
        }},
    Key{"lxc.idmap", take_ids},
    Key{"lxc.apparmor.profile",
        [](Plan& p, std::string_view v) {
            expect(v, "unconfined");
            p.unconfined = true;
        }},
    Key{"svc.apparmor", take_confinement},
    Key{"lxc.seccomp.profile", [](Plan& p, std::string_view v) { p.seccomp = v; }},
    Key{"lxc.mount.auto", [](Plan&, std::string_view v) { expect(v, "proc:mixed sys:mixed cgroup:mixed"); }},
    Key{"lxc.mount.entry", add_mount},
    Key{"lxc.init.cmd", [](Plan& p, std::string_view v) { p.init = words(v); }},
    Key{"lxc.signal.halt", [](Plan&, std::string_view) {}},  // sent by the runtime, not by the launcher
    Key{"lxc.console.logfile", [](Plan& p, std::string_view v) { p.console_log = v; }},
    Key{"lxc.console.size", [](Plan& p, std::string_view v) { p.console_size = size_of(v); }},
    Key{"lxc.log.file", [](Plan& p, std::string_view v) { p.log = v; }},
    Key{"lxc.log.level", [](Plan&, std::string_view v) { expect(v, "ERROR"); }},
    Key{"lxc.tty.max", [](Plan& p, std::string_view v) { p.terminals = small_number(v, 12); }},
    Key{"lxc.pty.max", [](Plan& p, std::string_view v) { p.most_terminals = small_number(v); }},
    Key{"lxc.net.0.type", [](Plan&, std::string_view v) { expect(v, "veth"); }},
    Key{"lxc.net.0.flags", [](Plan&, std::string_view v) { expect(v, "up"); }},
    Key{"lxc.net.0.link", [](Plan& p, std::string_view v) { network_of(p).bridge = v; }},
    Key{"lxc.net.0.name", [](Plan& p, std::string_view v) { network_of(p).guest_device = v; }},
    Key{"lxc.net.0.veth.pair", [](Plan& p, std::string_view v) { network_of(p).host_device = v; }},
    Key{"lxc.net.0.mtu", [](Plan& p, std::string_view v) { network_of(p).mtu = small_number(v); }},
    Key{"lxc.net.0.hwaddr", [](Plan& p, std::string_view v) { network_of(p).hardware_address = v; }},
    Key{"lxc.net.0.ipv4.address", [](Plan& p, std::string_view v) { take_address(network_of(p), v); }},
    Key{"lxc.net.0.ipv4.gateway", [](Plan& p, std::string_view v) { network_of(p).gateway = v; }},
    Key{"lxc.cgroup.dir.container", [](Plan& p, std::string_view v) { p.group = v; }},
    Key{"lxc.cgroup.dir.monitor", [](Plan& p, std::string_view v) { p.monitor_group = v; }},
    Key{"svc.launcher", [](Plan&, std::string_view v) { expect(v, "own"); }},
    Key{"svc.hierarchy", add_hierarchy},
    Key{"lxc.hook.stop", [](Plan& p, std::string_view v) { p.stop_command = v; }},
    Key{"lxc.environment", [](Plan& p, std::string_view v) { p.environment.emplace_back(v); }},
    Key{"lxc.prlimit.nofile",
        [](Plan& p, std::string_view v) { p.resource_limits.push_back({RLIMIT_NOFILE, number(v)}); }},
    Key{"lxc.prlimit.nice",
        [](Plan& p, std::string_view v) { p.resource_limits.push_back({RLIMIT_NICE, number(v)}); }},
};

bool take_limit(Plan& plan, std::string_view key, std::string_view value) {
    const bool second = key.starts_with("lxc.cgroup2.");
    if (!second && !key.starts_with("lxc.cgroup.")) return false;
    key.remove_prefix(second ? 12 : 11);
    const std::size_t dot = key.find('.');
    if (dot == 0 || dot == std::string_view::npos || key.starts_with("dir.")) return false;
    if (key.find('/') != std::string_view::npos) return false;
    plan.limits.push_back({std::string(key.substr(0, dot)), std::string(key), std::string(value), second});
    return true;
}

void take_line(Plan& plan, std::string_view line) {
    const std::size_t equals = line.find(" = ");
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : line.substr(equals + 3);
    for (const Key& known : keys)
        if (key == known.name) return known.take(plan, value);
    if (!take_limit(plan, key, value)) refuse("unknown line", line);
}

void require(const Plan& plan) {
    const bool mapped = plan.maps_users && plan.maps_groups && plan.id_count != 0 && plan.first_id != 0;
    if (plan.root.empty() || !mapped || plan.init.empty() || plan.group.empty() || plan.seccomp.empty())
        throw LaunchFailure(
            "configuration: root file system, ids, groups, refused calls or init are missing");
    if (plan.unconfined == plan.confinement.has_value())
        throw LaunchFailure("configuration: it does not say how AppArmor confines the guest");
}

}  // namespace

bool Plan::has_only_version_2() const {
    return hierarchies.size() == 1 && hierarchies.front().kind == Hierarchy::Kind::version_2;
}

Plan parse_plan(std::string_view config) {
    Plan plan;
    while (!config.empty()) {
        const std::size_t end = std::min(config.find('\n'), config.size());
        if (end > 0) take_line(plan, config.substr(0, end));
        config.remove_prefix(std::min(end + 1, config.size()));
    }
    require(plan);
    return plan;
}

}  // namespace svc::lxc
