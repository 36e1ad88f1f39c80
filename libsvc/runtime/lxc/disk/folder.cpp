#include "libsvc/runtime/lxc/disk/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

Error folder_error(const std::string& name) {
    return system_error("cannot read " + quoted(name) + " of a layer", errno);
}

}  // namespace

FileDescriptor open_folder_in(int folder, const std::string& name) {
    FileDescriptor opened(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened) throw folder_error(name);
    return opened;
}

// The name may have become a FIFO or a terminal: waits for no writer, takes no controlling terminal.
FileDescriptor open_file_in(int folder, const std::string& name) {
    FileDescriptor opened(
        ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!opened) throw folder_error(name);
    return opened;
}

std::vector<std::string> sorted_names(int folder) {
    FileDescriptor own = open_folder_in(folder, ".");  // a new open file: the caller's keeps its position
    const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(own.get()));
    if (!stream) throw folder_error(".");
    own.release();
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* const entry = ::readdir(stream.get());
        if (entry == nullptr && errno != 0) throw folder_error(".");
        if (entry == nullptr) break;
        std::string name = static_cast<const char*>(entry->d_name);
        if (name != "." && name != "..") names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

struct stat stat_in(int folder, const std::string& name) {
    struct stat info {};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) throw folder_error(name);
    return info;
}

std::string link_target_in(int folder, const std::string& name) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
    if (size < 0) throw folder_error(name);
    return {text.data(), static_cast<std::size_t>(size)};
}

void remove_inside(const std::filesystem::path& root, const std::string& path) {
    const std::filesystem::path clean = std::filesystem::path(path).lexically_normal().relative_path();
    const std::string name = clean.filename().native();
    if (name.empty() || name == "." || name == ".." || clean.begin()->native() == "..")
        throw Error(ErrorCode::invalid_argument, "path " + quoted(path) + " cannot be left out");
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const FileDescriptor top = open_file(root, O_PATH | O_DIRECTORY);
    const std::string parent = clean.has_parent_path() ? clean.parent_path().native() : ".";
    const FileDescriptor folder(
        static_cast<int>(::syscall(SYS_openat2, top.get(), parent.c_str(), &how, sizeof how)));
    if (folder) return remove_tree("/proc/self/fd/" + std::to_string(folder.get()) + "/" + name);
    if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        throw system_error("cannot leave out " + quoted(path), errno);
}

}  // namespace svc::lxc
