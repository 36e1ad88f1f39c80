#include "libsvc/remote/directory_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t piece_bytes = 256U << 10;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using DirectoryPtr = std::unique_ptr<DIR, CloseDirectory>;

bool is_absent(int error) {
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV;
}

std::size_t read_piece(int fd, char* into, std::size_t size) {
    for (;;) {
        const ssize_t count = ::read(fd, into, size);
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) throw system_error("cannot read a file", errno);
    }
}

}  // namespace

FileDescriptor DirectoryTree::open(const std::string& path, int flags) const {
    const FileDescriptor root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) throw Error(ErrorCode::unavailable, std::generic_category().message(errno));
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const std::string relative = path.empty() ? "." : path;
    const long fd = ::syscall(SYS_openat2, root.get(), relative.c_str(), &how, sizeof how);
    if (fd >= 0) return FileDescriptor(static_cast<int>(fd));
    if (is_absent(errno)) throw Error(ErrorCode::not_found, quoted(path) + " not found");
    throw system_error("cannot open " + quoted(path), errno);
}

// O_NONBLOCK: opening a fifo would block.
FileDescriptor DirectoryTree::open_regular(const std::string& path) const {
    FileDescriptor fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) throw system_error("cannot read " + quoted(path), errno);
    if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::not_found, quoted(path) + " is not a file");
    return fd;
}

std::vector<std::string> DirectoryTree::directories(const std::string& path, std::size_t at_most) const {
    FileDescriptor fd = open(path, O_RDONLY | O_DIRECTORY);
    const DirectoryPtr directory(::fdopendir(fd.get()));
    if (!directory) throw system_error("cannot list a directory", errno);
    fd.release();
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(directory.get())) {
        if (entry->d_name[0] == '.') continue;
        struct stat status {};
        const int found = ::fstatat(::dirfd(directory.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW);
        if (found != 0 || !S_ISDIR(status.st_mode)) continue;
        if (names.size() == at_most)
            throw Error(ErrorCode::invalid_argument,
                        "directory has more than " + std::to_string(at_most) + " entries");
        names.emplace_back(entry->d_name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string DirectoryTree::read(const std::string& path, std::size_t max_bytes) const {
    std::string all;
    read(path, [&](std::string_view piece) {
        if (piece.size() > max_bytes - all.size())
            throw Error(ErrorCode::invalid_argument,
                        quoted(path) + " is larger than " + std::to_string(max_bytes) + " bytes");
        all.append(piece);
    });
    return all;
}

void DirectoryTree::read(const std::string& path, const std::function<void(std::string_view)>& write) const {
    const FileDescriptor file = open_regular(path);
    std::string buffer(piece_bytes, '\0');
    while (const std::size_t count = read_piece(file.get(), buffer.data(), buffer.size()))
        write(std::string_view(buffer).substr(0, count));
}

bool DirectoryTree::has_file(const std::string& path) const {
    try {
        open_regular(path);
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return false;
    }
}

}  // namespace svc
