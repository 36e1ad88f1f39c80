#include "libsvc/runtime/lxc/launcher/guest_root.h"

#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdio>

#include "libsvc/runtime/lxc/launcher/guest_devices.h"
#include "libsvc/runtime/lxc/launcher/mounts.h"

namespace svc::lxc {

namespace {

constexpr std::uint64_t no_programs = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

// The host's root lies on top of the new one, and is reached by its descriptor, until leave_host().
void change_root(const Plan& plan) {
    const Descriptor root = clone_mount(AT_FDCWD, plan.root);
    if (!root) throw LaunchFailure("no root file system '" + plan.root + "'");
    attach(root, plan.root);
    check(::fchdir(root.get()), "cannot enter the root file system");
    check(::syscall(SYS_pivot_root, ".", "."), "cannot change the root");
    check(::chroot("."), "cannot change the root");
    check(::chdir("/"), "cannot enter the root file system");
}

void leave_host(int host) {
    check(::fchdir(host), "cannot enter the host's root");
    check(::umount2(".", MNT_DETACH), "cannot leave the host's file systems");
    check(::chdir("/"), "cannot enter the root file system");
}

void bind_read_only(const std::string& path) {
    if (const Descriptor mount = clone_mount(AT_FDCWD, path, MOUNT_ATTR_RDONLY)) attach(mount, path);
}

// Settings of the kernel are read-only but for the container's own network.
void mount_proc() {
    make_folder("/proc");
    attach(new_file_system("proc", "proc", no_programs), "/proc");
    const Descriptor network = clone_mount(AT_FDCWD, "/proc/sys/net");
    bind_read_only("/proc/sys");
    if (network) attach(network, "/proc/sys/net");
    bind_read_only("/proc/sysrq-trigger");
}

void mount_sys() {
    make_folder("/sys");
    attach(new_file_system("sysfs", "sysfs", no_programs), "/sys");
    const Descriptor network = clone_mount(AT_FDCWD, "/sys/devices/virtual/net");
    change_mount("/sys", MOUNT_ATTR_RDONLY, 0, false);
    if (network) attach(network, "/sys/devices/virtual/net");
}

std::string random_id() {
    unsigned char b[16];
    check(::getrandom(b, sizeof b, 0), "cannot make an id");
    b[6] = static_cast<unsigned char>((b[6] & 0x0fU) | 0x40U);
    b[8] = static_cast<unsigned char>((b[8] & 0x3fU) | 0x80U);
    char text[40];
    std::snprintf(text, sizeof text, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\n",
                  b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                  b[14], b[15]);
    return text;
}

// Each start of a container counts as a boot of its own.
void mount_boot_id() {
    const std::string file = "/dev/.boot-id";
    make_file(file);
    write_text(AT_FDCWD, file, random_id());
    attach(clone_mount(AT_FDCWD, file, no_programs | MOUNT_ATTR_RDONLY), "/proc/sys/kernel/random/boot_id");
    check(::unlink(file.c_str()), "cannot remove '" + file + "'");
}

bool is_there(const std::string& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0;
}

void bind(const BindMount& wanted, int host) {
    const std::string target = "/" + wanted.target;
    const Descriptor mount = clone_mount(host, wanted.source.substr(1), wanted.flags);
    if (!mount && wanted.optional) return;
    if (!mount) throw LaunchFailure("there is no '" + wanted.source + "' to mount");
    if (wanted.create == BindMount::Create::file) make_file(target);
    if (wanted.create == BindMount::Create::folder) make_folder(target);
    if (wanted.optional && !is_there(target)) return;
    attach(mount, target);
}

}  // namespace

void mount_groups() {
    attach(new_file_system("cgroup2", "none", no_programs), "/sys/fs/cgroup");
}

std::vector<Terminal> enter_root(const Plan& plan) {
    const Descriptor host = opened(AT_FDCWD, "/", O_PATH | O_DIRECTORY, "cannot open");
    change_root(plan);
    mount_proc();  // while the host's is seen: the kernel mounts no other in a user namespace
    mount_sys();
    std::vector<Terminal> terminals = make_devices(plan, host.get());
    mount_boot_id();
    for (const BindMount& mount : plan.mounts) bind(mount, host.get());
    leave_host(host.get());
    change_mount("/", 0, MS_SHARED, true);
    return terminals;
}

}  // namespace svc::lxc
