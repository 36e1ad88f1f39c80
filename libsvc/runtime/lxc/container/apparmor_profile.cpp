#include "libsvc/runtime/lxc/container/apparmor_profile.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace svc::lxc {

namespace {

constexpr std::string_view changes = "wklx";
constexpr std::string_view all_access = "rwklx";

std::string refuse(std::string_view path, std::string_view access) {
    return fmt::format("  deny {} {},\n", path, access);
}

// Everything else is left to the user namespace, which owns nothing of the host's. All mounts have to be
// allowed: the rules of nested containers cannot be written more narrowly.
constexpr std::string_view allowed =
    "  capability,\n  dbus,\n  file,\n  mount,\n  network,\n  pivot_root,\n  ptrace,\n  signal,\n  umount,\n";

// Files by which the host can be harmed, wherever root of a guest mounts them.
std::string refused_files() {
    std::string rules = refuse("/proc/bus/**", changes);
    for (const std::string_view path : {"/proc/acpi/**", "/proc/kcore", "/proc/sysrq-trigger",
                                        "/sys/firmware/efi/efivars/**", "/sys/kernel/debug/{,**}"})
        rules += refuse(path, all_access);
    for (const std::string_view path : {"/dev/.lxc/proc/**", "/dev/.lxc/sys/**"}) rules += refuse(path, "rw");
    return rules +
           refuse_changes_below("/proc/sys/", {"kernel/domainname", "kernel/hostname", "kernel/msg*",
                                               "kernel/sem*", "kernel/shm*", "net/"}) +
           refuse_changes_below(
               "/sys/", {"class/net/", "devices/virtual/net/", "fs/cgroup/", "kernel/security/apparmor/"});
}

constexpr std::string_view refused_mounts =
    "  deny mount options=(ro, remount) -> /,\n"
    "  deny mount options=(ro, remount, silent) -> /,\n"
    "  deny mount fstype=debugfs -> /var/lib/ureadahead/debugfs/,\n";

}  // namespace

std::string guest_profile_name(std::string_view bridge) {
    return fmt::format("svc-guest-{}", bridge);
}

// An id has no dot, so no two pairs have one name.
std::string policy_namespace_name(std::string_view bridge, std::string_view id) {
    return fmt::format("svc-{}.{}", bridge, id);
}

// A rule cannot say "all but this name", so there is one for each character at which a path can begin to
// differ from what is kept: "/sys/f[^/s]*{,/**}" is what begins with "f" and does not go on as "fs" does.
std::string refuse_changes_below(std::string_view folder, const std::vector<std::string_view>& kept) {
    std::map<std::string, std::set<char>> next;  // of each beginning of a kept path
    std::string rules;
    for (std::string_view path : kept) {
        const bool beginning = path.ends_with('*');
        if (beginning) path.remove_suffix(1);
        for (std::size_t size = 0; size < path.size(); ++size)
            next[std::string(path.substr(0, size))].insert(path[size]);
        if (beginning)
            rules += refuse(fmt::format("{}{}*/**", folder, path), changes);
        else if (!path.ends_with('/'))
            next[std::string(path)];
    }
    for (const auto& [begin, characters] : next) {
        std::string others = "/";
        for (const char c : characters)
            if (c != '/') others += c;
        rules += refuse(fmt::format("{}{}[^{}]*{{,/**}}", folder, begin, others), changes);
    }
    return rules;
}

// A guest sees its own namespace and those below it, and can name no other: the pattern gives it no more.
std::string guest_profile(std::string_view bridge) {
    return fmt::format("profile \"{}\" flags=(attach_disconnected,mediate_deleted) {{\n",
                       guest_profile_name(bridge)) +
           std::string(allowed) + "  unix (receive),\n  unix peer=(label=@{profile_name}),\n" +
           refused_files() + std::string(refused_mounts) +
           fmt::format("  change_profile -> \":{0}:*\",\n  change_profile -> \":{0}://*\",\n}}\n",
                       policy_namespace_name(bridge, "*"));
}

}  // namespace svc::lxc
