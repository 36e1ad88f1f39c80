#include "libsvc/runtime/lxc/launcher/mounts.h"

#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

namespace svc::lxc {

namespace {

void set_option(int context, const char* key, const char* value) {
    const unsigned command = value == nullptr ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING;
    check(::syscall(SYS_fsconfig, context, command, key, value, 0),
          std::string("cannot set mount option '") + key + "'");
}

void make_parents(const std::string& path) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
        if (::mkdir(path.substr(0, at).c_str(), 0755) != 0 && errno != EEXIST)
            fail("cannot make folder '" + path.substr(0, at) + "'");
}

}  // namespace

Descriptor new_file_system(const char* type, const char* source, std::uint64_t flags, MountOptions options) {
    const std::string step = std::string("cannot mount a file system of type ") + type;
    const Descriptor context(static_cast<int>(check(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC), step)));
    for (const auto& [key, value] : options) set_option(context.get(), key, value);
    set_option(context.get(), "source", source);
    check(::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), step);
    return Descriptor(
        static_cast<int>(check(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, flags), step)));
}

Descriptor clone_mount(int folder, const std::string& path, std::uint64_t flags) {
    Descriptor mount(static_cast<int>(
        ::syscall(SYS_open_tree, folder, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
    if (!mount && errno == ENOENT) return mount;
    if (!mount) fail("cannot bind '" + path + "'");
    mount_attr attributes{};
    attributes.attr_set = flags;
    attributes.propagation = MS_PRIVATE;
    check(::syscall(SYS_mount_setattr, mount.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes),
          "cannot set the flags of '" + path + "'");
    return mount;
}

void attach(const Descriptor& mount, const std::string& path) {
    check(::syscall(SYS_move_mount, mount.get(), "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH),
          "cannot mount on '" + path + "'");
}

void attach(const Descriptor& mount, int folder) {
    check(::syscall(SYS_move_mount, mount.get(), "", folder, "",
                    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
          "cannot mount the root file system");
}

void change_mount(const std::string& path, std::uint64_t set, std::uint64_t propagation, bool below) {
    mount_attr attributes{};
    attributes.attr_set = set;
    attributes.propagation = propagation;
    check(::syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), below ? AT_RECURSIVE : 0, &attributes,
                    sizeof attributes),
          "cannot change the mount '" + path + "'");
}

void make_file(const std::string& path) {
    make_parents(path);
    if (::mknod(path.c_str(), S_IFREG | 0644, 0) != 0 && errno != EEXIST)
        fail("cannot make file '" + path + "'");
}

void make_folder(const std::string& path) {
    make_parents(path);
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail("cannot make folder '" + path + "'");
}

}  // namespace svc::lxc
