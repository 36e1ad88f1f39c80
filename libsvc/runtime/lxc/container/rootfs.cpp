#include "libsvc/runtime/lxc/container/rootfs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr int most_attempts = 100'000;

// Links, absolute ones too, are resolved below `root`; magic links of /proc are refused.
FileDescriptor open_inside(int root, const std::string& path, int flags, unsigned mode = 0) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
    how.mode = mode;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    // EAGAIN: a ".." of a link was resolved during a rename or a mount somewhere on the machine.
    for (int attempts = 0;; ++attempts) {
        FileDescriptor file(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
        if (file || errno != EAGAIN || attempts == most_attempts) return file;
    }
}

FileDescriptor open_root(const std::filesystem::path& root) {
    return open_file(root, O_PATH | O_DIRECTORY);
}

Error placing_error(const PlacedFile& file, int number) {
    return system_error("cannot place file " + quoted(file.path), number);
}

// Opens the folder of `path`, making what is missing step by step.
FileDescriptor open_folder(int root, const PlacedFile& file, const std::filesystem::path& folder,
                           std::uint32_t owner) {
    FileDescriptor current = open_inside(root, "/", O_PATH | O_DIRECTORY);
    if (!current) throw placing_error(file, errno);
    std::filesystem::path walked = "/";
    for (const std::filesystem::path& step : folder.relative_path()) {
        if (step.empty() || step == ".") continue;
        if (step == "..")
            throw Error(ErrorCode::invalid_argument, "file name " + quoted(file.path) + " has '..' in it");
        const bool made = ::mkdirat(current.get(), step.c_str(), 0755) == 0;
        if (!made && errno != EEXIST) throw placing_error(file, errno);
        if (made && ::fchownat(current.get(), step.c_str(), owner, owner, AT_SYMLINK_NOFOLLOW) != 0)
            throw placing_error(file, errno);
        walked /= step;
        current = open_inside(root, walked.native(), (made ? O_RDONLY : O_PATH) | O_DIRECTORY);
        if (!current) throw placing_error(file, errno);
        if (made && ::fchmod(current.get(), 0755) != 0)
            throw placing_error(file, errno);  // fchmod(): independent of the umask
    }
    return current;
}

std::filesystem::path path_of_descriptor(int fd) {
    return "/proc/self/fd/" + std::to_string(fd);
}

std::filesystem::path path_of(int fd) {
    return std::filesystem::read_symlink(path_of_descriptor(fd));
}

std::filesystem::path path_inside(int root, int folder) {
    return "/" / path_of(folder).lexically_relative(path_of(root)).lexically_normal();
}

}  // namespace

bool has_file(const std::filesystem::path& root, const std::string& path) {
    const FileDescriptor top(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
    const FileDescriptor file(
        static_cast<int>(::syscall(SYS_openat2, top.get(), path.c_str(), &how, sizeof how)));
    struct stat info {};
    return top && file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string place_file(const std::filesystem::path& root, const PlacedFile& file, std::uint32_t owner) {
    const std::filesystem::path path(file.path);
    if (!path.is_absolute() || !path.has_filename())
        throw Error(ErrorCode::invalid_argument, "file name " + quoted(file.path) + " is not absolute");
    const FileDescriptor top = open_root(root);
    const FileDescriptor folder = open_folder(top.get(), file, path.parent_path(), owner);
    const std::string name = path.filename().native();
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) throw placing_error(file, errno);
    const FileDescriptor out(
        ::openat(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out) throw placing_error(file, errno);
    with_context("file " + quoted(file.path), [&] { write_all(out.get(), file.content); });
    failpoint("rootfs.file_placed");
    if (::fchown(out.get(), owner, owner) != 0 || ::fchmod(out.get(), file.mode & 07777U) != 0)
        throw placing_error(file, errno);
    return path_inside(top.get(), folder.get()) / name;
}

std::string find_init(const std::filesystem::path& root, const std::string& init) {
    const std::string program = init.substr(0, init.find(' '));
    const FileDescriptor top = open_root(root);
    const FileDescriptor file = open_inside(top.get(), program, O_PATH);
    if (!file && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        throw system_error("cannot look for init " + quoted(program), errno);
    if (!file)
        throw Error(ErrorCode::invalid_argument, "image has no init: " + quoted(program) + " not found");
    struct stat info {};
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & 0111U) == 0)
        throw Error(ErrorCode::invalid_argument,
                    "image has no init: " + quoted(program) + " is not an executable file");
    std::error_code ignored;
    return std::filesystem::read_symlink(path_of_descriptor(file.get()), ignored).native();
}

std::string read_inside(const std::filesystem::path& root, const std::string& path, std::size_t max_bytes) {
    const FileDescriptor top = open_root(root);
    const FileDescriptor file = open_inside(top.get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat info {};
    if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        throw Error(ErrorCode::invalid_argument, "the image has no file " + quoted(path));
    return read_file(path_of_descriptor(file.get()), max_bytes);
}

}  // namespace svc::lxc
