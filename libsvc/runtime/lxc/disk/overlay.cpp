#include "libsvc/runtime/lxc/disk/overlay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <thread>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

// The files of a layer must have the same meaning in every overlay that uses it. So an overlay stores no
// references to other layers, neither by handle nor by name, whatever the kernel's defaults are.
constexpr std::string_view plain_layers = "redirect_dir=off,metacopy=off,index=off";
constexpr std::size_t option_limit = 4095;  // one page, with its zero byte

using Lower = std::vector<std::filesystem::path>;

// Opened folders, which the kernel accepts under short names without ':' and ','.
class ShortNames {
  public:
    std::string add(const std::filesystem::path& path) {
        folders_.push_back(open_file(path, O_PATH | O_DIRECTORY));
        return "/proc/self/fd/" + std::to_string(folders_.back().get());
    }

  private:
    std::vector<FileDescriptor> folders_;
};

// The kernel expects the uppermost layer first.
template <class Name>
std::string lower_option(const Lower& layers, Name&& name) {
    std::vector<std::string> lower;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) lower.push_back(name(*layer));
    return "lowerdir=" + join(lower, ":");
}

template <class Name>
std::string overlay_options(const Overlay& overlay, Name&& name) {
    return fmt::format("{},upperdir={},workdir={},{}", lower_option(overlay.layers, name),
                       name(overlay.upper), name(overlay.work), plain_layers);
}

constexpr std::string_view probe_prefix = ".probe-";

std::string plain_name(const std::filesystem::path& path) {
    return path.native();
}

Error mount_error(int number) {
    return system_error("cannot mount a read-only view of layers", number);
}

// The folder that holds all folders of a container: the runtime's own, which is on one file system.
std::filesystem::path common_folder(const Overlay& overlay) {
    std::filesystem::path folder = overlay.upper.parent_path();
    for (const std::filesystem::path& layer : overlay.layers)
        while (*layer.lexically_relative(folder).begin() == "..") folder = folder.parent_path();
    return folder;
}

// The folders of a container with other owners. One mount for all of them: to give up a mount takes the
// kernel as long as all other steps together.
class IdMappedFolders {
  public:
    explicit IdMappedFolders(const Overlay& overlay)
        : overlay_(overlay),
          folder_(common_folder(overlay)),
          tree_(open_id_mapped(folder_, make_id_map(*overlay.id_mapping))) {}
    long mount() {
        std::string options = overlay_options(
            overlay_, [&](const std::filesystem::path& path) { return inside(path).native(); });
        if (options.size() > option_limit)
            options = overlay_options(
                overlay_, [&](const std::filesystem::path& path) { return names_.add(inside(path)); });
        return ::mount("overlay", overlay_.target.c_str(), "overlay", 0, options.c_str());
    }
    void attach() const {
        if (::syscall(SYS_move_mount, tree_.get(), "", AT_FDCWD, overlay_.target.c_str(),
                      MOVE_MOUNT_F_EMPTY_PATH) != 0)
            throw system_error("cannot attach the files of a container", errno);
    }

    FileDescriptor take() { return std::move(tree_); }

  private:
    std::filesystem::path inside(const std::filesystem::path& path) const {
        return std::filesystem::path("/proc/self/fd") / std::to_string(tree_.get()) /
               path.lexically_relative(folder_);
    }

    const Overlay& overlay_;
    std::filesystem::path folder_;
    FileDescriptor tree_;
    ShortNames names_;
};

Error container_mount_error(int number) {
    return system_error("cannot mount the container's root file system", number);
}

long configure(int context, unsigned command, const char* key, const char* value) {
    return ::syscall(SYS_fsconfig, context, command, key, value, 0);
}

void mount_plain(const Overlay& overlay) {
    ShortNames names;
    std::string options = overlay_options(overlay, plain_name);
    if (options.size() > option_limit)
        options =
            overlay_options(overlay, [&](const std::filesystem::path& path) { return names.add(path); });
    if (::mount("overlay", overlay.target.c_str(), "overlay", 0, options.c_str()) != 0)
        throw container_mount_error(errno);
}

}  // namespace

bool is_mount_point(const std::filesystem::path& path) {
    struct statx info {};
    if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return false;
        throw system_error("cannot tell whether something is mounted on a folder", errno);
    }
    return (info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0 &&
           (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

FileDescriptor mount_overlay(const Overlay& overlay) {
    if (is_mount_point(overlay.target)) return {};
    FileDescriptor folders;
    if (!overlay.id_mapping)
        mount_plain(overlay);
    else if (!(folders = mount_over_detached(overlay)))
        mount_over_attached(overlay);
    failpoint("overlay.mounted");
    return folders;
}

FileDescriptor mount_over_detached(const Overlay& overlay) {
    IdMappedFolders folders(overlay);
    if (folders.mount() == 0) return folders.take();
    if (errno != EINVAL) throw container_mount_error(errno);
    return {};
}

void mount_over_attached(const Overlay& overlay) {
    IdMappedFolders folders(overlay);
    folders.attach();
    if (folders.mount() == 0) return;
    const int number = errno;
    unmount_overlay(overlay.target);
    throw container_mount_error(number);
}

void unmount_overlay(const std::filesystem::path& target) {
    constexpr int attempts = 20;
    for (int attempt = 0; is_mount_point(target); ++attempt) {
        if (::umount2(target.c_str(), UMOUNT_NOFOLLOW | (attempt < attempts ? 0 : MNT_DETACH)) == 0) continue;
        if (errno != EBUSY) throw system_error("cannot unmount the container's root file system", errno);
        ::poll(nullptr, 0, 5);  // still in use; the kernel does not notify when that ends
    }
    failpoint("overlay.unmounted");
}

FileDescriptor detach_overlay(const std::filesystem::path& target) {
    if (!is_mount_point(target)) return {};
    FileDescriptor mount = open_file(target, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    do {
        if (::umount2(target.c_str(), UMOUNT_NOFOLLOW | MNT_DETACH) != 0)
            throw system_error("cannot unmount the container's root file system", errno);
    } while (is_mount_point(target));
    failpoint("overlay.detached");
    return mount;
}

FileDescriptor mount_detached(const Lower& layers) {
    const FileDescriptor context(static_cast<int>(::syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC)));
    if (!context) return {};
    ShortNames names;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
        if (configure(context.get(), FSCONFIG_SET_STRING, "lowerdir+", names.add(*layer).c_str()) != 0)
            return {};
    if (configure(context.get(), FSCONFIG_SET_FLAG, "ro", nullptr) != 0) throw mount_error(errno);
    if (configure(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr) != 0) {
        if (errno == EINVAL) return {};  // before Linux 6.5 options are looked at only now
        throw mount_error(errno);
    }
    FileDescriptor tree(
        static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                                   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)));
    if (!tree) throw mount_error(errno);
    return tree;
}

FileDescriptor mount_aside(const Lower& layers, const std::filesystem::path& scratch) {
    ShortNames names;
    Lower lower = layers;
    if (lower.size() == 1) lower.insert(lower.begin(), scratch);  // empty: the kernel wants two
    const std::string options =
        lower_option(lower, [&](const std::filesystem::path& path) { return names.add(path); });
    if (::mount("overlay", scratch.c_str(), "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, options.c_str()) !=
        0)
        throw mount_error(errno);
    FileDescriptor tree(::open(scratch.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const int number = errno;
    ::umount2(scratch.c_str(), UMOUNT_NOFOLLOW | MNT_DETACH);
    if (!tree) throw mount_error(number);
    return tree;
}

FileDescriptor open_merged(const Lower& layers, const std::filesystem::path& scratch) {
    FileDescriptor tree = mount_detached(layers);
    return tree ? std::move(tree) : mount_aside(layers, scratch);
}

namespace {

// A small container's disk below `folder`: what belongs to the common range belongs to the other one in the
// mount, and back.
void try_id_mapping(const std::filesystem::path& folder, const IdMapping& mapping) {
    const Overlay overlay{{folder / "layer"}, folder / "upper", folder / "work", folder / "rootfs", mapping};
    for (const auto& path : {overlay.layers[0], overlay.upper, overlay.work, overlay.target})
        make_directories(path);
    write_all(open_file(overlay.layers[0] / "file", O_WRONLY | O_CREAT).get(), "1");
    for (const auto& path : {overlay.layers[0], overlay.layers[0] / "file", overlay.upper})
        if (::chown(path.c_str(), mapping.on_disk, mapping.on_disk) != 0)
            throw system_error("cannot give a file to a container", errno);
    mount_overlay(overlay);
    Rollback mounted;
    mounted.add("mount", [&] { unmount_overlay(overlay.target); });
    struct stat seen {
    }, stored{};
    write_all(open_file(overlay.target / "file", O_WRONLY).get(), "2");
    const bool known = ::stat((overlay.target / "file").c_str(), &seen) == 0 &&
                       ::stat((overlay.upper / "file").c_str(), &stored) == 0;
    if (!known || seen.st_uid != mapping.seen || stored.st_uid != mapping.on_disk)
        throw Error(ErrorCode::unsupported, "owners of files are not mapped");
}

// For the calling thread alone.
void leave_mount_namespace() {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        throw system_error("cannot make a mount namespace", errno);
}

}  // namespace

// On a thread with mounts of its own: they end with it, also when this process is killed.
std::string id_mapping_failure(const std::filesystem::path& folder, const IdMapping& mapping) {
    std::string failure;
    std::thread([&] {
        try {
            leave_mount_namespace();
            const TemporaryDirectory probe(folder, probe_prefix);
            try_id_mapping(probe.path(), mapping);
        } catch (const std::exception& e) {
            failure = e.what();
        }
    }).join();
    return failure;
}

void remove_probes(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().filename().native().starts_with(probe_prefix)) remove_tree(entry.path());
}

}  // namespace svc::lxc
