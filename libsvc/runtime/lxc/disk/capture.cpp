#include "libsvc/runtime/lxc/disk/capture.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/disk/folder.h"

namespace svc::lxc {

namespace {

// "opaque" and whiteouts stay: they hide files of the layers below. The other marks refer to files of those
// layers, or count links; in a lower layer they are useless or lead to a wrong file.
constexpr std::array<const char*, 5> stale_marks = {"trusted.overlay.origin", "trusted.overlay.impure",
                                                    "trusted.overlay.uuid", "trusted.overlay.nlink",
                                                    "trusted.overlay.upper"};

void remove_marks(int fd) {
    for (const char* const mark : stale_marks)
        if (::fremovexattr(fd, mark) != 0 && errno != ENODATA && errno != ENOTSUP)
            throw system_error("cannot clear a mark of a captured file", errno);
}

// Links and whiteouts keep the number, because they cannot be opened. They take little space, and
// choose_project() does not choose a number that is in use.
void clear_project(int fd) {
    fsxattr attributes{};
    if (::ioctl(fd, FS_IOC_FSGETXATTR, &attributes) != 0) return;  // the file system has no quotas
    if (attributes.fsx_projid == 0 && (attributes.fsx_xflags & FS_XFLAG_PROJINHERIT) == 0) return;
    attributes.fsx_projid = 0;
    attributes.fsx_xflags &= ~static_cast<decltype(attributes.fsx_xflags)>(FS_XFLAG_PROJINHERIT);
    if (::ioctl(fd, FS_IOC_FSSETXATTR, &attributes) != 0)
        throw system_error("cannot clear the disk quota of a captured file", errno);
}

// Removes the marks of a captured tree and counts its bytes.
class Cleaner {
  public:
    void clean(int folder, std::size_t depth, std::size_t path_bytes) {
        remove_marks(folder);
        clear_project(folder);
        for (const std::string& name : sorted_names(folder)) {
            if (depth == max_tree_depth || path_bytes + name.size() > max_tree_path)
                throw Error(ErrorCode::invalid_argument, "folders of the container are nested too deeply");
            const struct stat info = stat_in(folder, name);
            ++entries_;
            if (S_ISDIR(info.st_mode))
                clean(open_folder_in(folder, name).get(), depth + 1, path_bytes + name.size() + 1);
            if (S_ISREG(info.st_mode)) clean_file(folder, name, info);
        }
    }
    Json record() const { return Json::object({{"schema", 1}, {"bytes", bytes_}, {"entries", entries_}}); }

  private:
    void clean_file(int folder, const std::string& name, const struct stat& info) {
        const FileDescriptor file(
            ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        if (!file) throw system_error("cannot open captured file " + quoted(name), errno);
        remove_marks(file.get());
        clear_project(file.get());
        if (info.st_nlink > 1 && !linked_.insert(info.st_ino).second) return;
        // The allocated blocks count, not the length: a file may have holes.
        constexpr std::uint64_t block = 4096;
        const auto taken = std::max(block, static_cast<std::uint64_t>(info.st_blocks) * 512);
        bytes_ += std::min(static_cast<std::uint64_t>(info.st_size), taken);
    }

    std::uint64_t bytes_ = 0;
    std::uint64_t entries_ = 0;
    std::set<ino_t> linked_;
};

void sync_file_system(const std::filesystem::path& path) {
    const FileDescriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
    if (::syncfs(folder.get()) != 0) throw system_error("cannot sync a captured layer", errno);
}

void rename_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) throw system_error("cannot move a container's files", errno);
}

}  // namespace

void finish_layer(const std::filesystem::path& folder, const std::vector<std::string>& left_out) {
    const std::filesystem::path rootfs = folder / "rootfs";
    for (const std::string& path : left_out) remove_inside(rootfs, path);
    failpoint("capture.left_out");
    sync_file_system(rootfs);  // before counting: only then the blocks of recent writes are allocated
    Cleaner cleaner;
    cleaner.clean(open_file(rootfs, O_RDONLY | O_DIRECTORY).get(), 0, std::string_view("rootfs/").size());
    failpoint("capture.cleaned");
    write_file_atomically(folder / "layer.json", cleaner.record().dump());
    sync_file_system(rootfs);
    failpoint("capture.synced");
}

Capture::Capture(const Layout& layout, const std::string& id)
    : upper_(layout.upper(id)), capture_(layout.capture(id)) {}

bool Capture::begun() const {
    return is_there(capture_ / "rootfs");
}

void Capture::put_back() const {
    if (begun()) rename_folder(capture_ / "rootfs", upper_);
    remove_tree(capture_);
}

std::filesystem::path Capture::take(const std::vector<std::string>& left_out) const {
    const std::filesystem::path rootfs = capture_ / "rootfs";
    if (!begun()) {
        remove_tree(capture_);
        make_directories(capture_, 0700);
        rename_folder(upper_, rootfs);
        failpoint("capture.begun");
    }
    finish_layer(capture_, left_out);
    return capture_;
}

}  // namespace svc::lxc
