#include "libsvc/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

namespace fs = std::filesystem;

// Messages may reach a client, so they show the last component alone.
std::string name_of(const fs::path& path) {
    const fs::path name = path.filename();
    return quoted(name.empty() ? path.parent_path().filename().native() : name.native());
}

[[noreturn]] void throw_errno(std::string_view verb, const fs::path& path) {
    const int number = errno;
    const std::string what = "cannot " + std::string(verb) + " " + name_of(path);
    if (number == ENOENT) throw Error(ErrorCode::not_found, what + ": no such file or directory");
    throw system_error(what, number);
}

// Unlinks `path` at the end of its life unless the rename made it the real file.
class UnlinkGuard {
  public:
    explicit UnlinkGuard(std::string path) : path_(std::move(path)) {}
    ~UnlinkGuard() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    UnlinkGuard(const UnlinkGuard&) = delete;
    UnlinkGuard& operator=(const UnlinkGuard&) = delete;
    void dismiss() noexcept { path_.clear(); }

  private:
    std::string path_;
};

// Removes what is below one directory. Mounts are noticed by the kernel (RESOLVE_NO_XDEV), bind mounts
// included.
class TreeRemover {
  public:
    TreeRemover(int root, const fs::path& name) : root_(root), name_(name) {}

    void run() {
        do {
            moved_up_ = false;
            remove_below(root_, 0);
        } while (moved_up_);
    }

    static FileDescriptor open_directory(int parent, const char* name, const fs::path& tree) {
        open_how how{};
        how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        how.resolve = RESOLVE_NO_XDEV | RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
        FileDescriptor directory(static_cast<int>(syscall(SYS_openat2, parent, name, &how, sizeof how)));
        if (!directory && errno == EXDEV)
            throw Error(ErrorCode::busy,
                        "cannot remove " + name_of(tree) + ": a file system is mounted there");
        return directory;
    }

  private:
    // Each level holds a descriptor, and a guest may have made the tree as deep as it likes.
    static constexpr int max_depth = 100;

    void remove_below(int directory, int depth) {
        const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(dup_of(directory)), closedir);
        if (!stream) throw_errno("read", name_);
        errno = 0;
        while (const dirent* entry = readdir(stream.get())) {
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") remove_entry(directory, entry->d_name, depth);
            errno = 0;
        }
        if (errno != 0) throw_errno("read", name_);
    }

    int dup_of(int directory) const {
        const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (copy < 0) throw_errno("read", name_);
        return copy;
    }

    void remove_entry(int directory, const char* name, int depth) {
        failpoint("tree.entry");
        if (unlinkat(directory, name, 0) == 0 || errno == ENOENT) return;
        if (errno != EISDIR && errno != EPERM) throw_errno("remove", name_);
        const FileDescriptor child = open_directory(directory, name, name_);
        if (!child) throw_errno("remove", name_);
        if (depth >= max_depth) {
            move_up(directory, name);
            return;
        }
        remove_below(child.get(), depth + 1);
        if (unlinkat(directory, name, AT_REMOVEDIR) != 0 && errno != ENOENT) throw_errno("remove", name_);
    }

    void move_up(int directory, const char* name) {
        const std::string above = ".deep-" + to_hex(random_bytes(8));
        if (renameat(directory, name, root_, above.c_str()) != 0) throw_errno("remove", name_);
        moved_up_ = true;
    }

    int root_;
    const fs::path& name_;
    bool moved_up_ = false;
};

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = other.release();
    }
    return *this;
}

int FileDescriptor::release() noexcept {
    return std::exchange(fd_, -1);
}

void FileDescriptor::reset() noexcept {
    const int saved = errno;  // close() must not replace the error
    if (fd_ >= 0) ::close(release());
    errno = saved;
}

FileDescriptor open_file(const fs::path& path, int flags, unsigned mode) {
    for (;;) {
        FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, mode));
        if (file) return file;
        if (errno != EINTR) throw_errno("open", path);
    }
}

std::string read_file(const fs::path& path, std::size_t max_bytes) {
    const FileDescriptor file = open_file(path, O_RDONLY);
    std::string content;
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && status.st_size > 0)  // 0: /proc
        content.reserve(std::min(static_cast<std::size_t>(status.st_size), max_bytes));
    std::array<char, 65536> buffer;
    for (;;) {
        const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_errno("read", path);
        if (got == 0) return content;
        if (content.size() + static_cast<std::size_t>(got) > max_bytes)
            throw Error(ErrorCode::invalid_argument,
                        name_of(path) + " is larger than " + std::to_string(max_bytes) + " bytes");
        content.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

void write_all(int fd, std::string_view data) {
    while (!data.empty()) {
        const ssize_t written = ::write(fd, data.data(), data.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw system_error("cannot write", errno);
        data.remove_prefix(static_cast<std::size_t>(written));
    }
    failpoint("file.written");
}

void write_file_atomically(const fs::path& path, std::string_view content, unsigned mode) {
    std::string beside = (path.parent_path() / ("." + path.filename().native() + ".XXXXXX")).native();
    const FileDescriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    if (!file) throw_errno("write", path);
    UnlinkGuard guard(beside);
    failpoint("file.made");
    with_context("cannot write " + name_of(path), [&] { write_all(file.get(), content); });
    if (::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0) throw_errno("write", path);
    failpoint("file.synced");
    if (::rename(beside.c_str(), path.c_str()) != 0) throw_errno("write", path);
    guard.dismiss();
    failpoint("file.renamed");
    sync_directory(path.parent_path());
}

void sync_directory(const fs::path& path) {
    const FileDescriptor directory = open_file(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
    if (::fsync(directory.get()) != 0) throw_errno("sync", path);
    failpoint("folder.synced");
}

void make_directories(const fs::path& path, unsigned mode) {
    if (path.empty() || ::mkdir(path.c_str(), mode) == 0) return failpoint("folder.made");
    if (errno == ENOENT && path.has_parent_path() && path.parent_path() != path) {
        make_directories(path.parent_path(), mode);
        if (::mkdir(path.c_str(), mode) == 0) return;
    }
    const int number = errno;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return;
    errno = number == EEXIST ? ENOTDIR : number;
    throw_errno("create", path);
}

void remove_tree(const fs::path& path) {
    const fs::path clean = path.has_filename() ? path : path.parent_path();
    const fs::path parent_path = clean.has_parent_path() ? clean.parent_path() : fs::path(".");
    const FileDescriptor parent(::open(parent_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!parent && errno == ENOENT) return;
    if (!parent) throw_errno("remove", clean);
    const std::string name = clean.filename().native();
    const FileDescriptor root = TreeRemover::open_directory(parent.get(), name.c_str(), clean);
    if (!root && errno == ENOENT) return;
    if (!root && (errno == ENOTDIR || errno == ELOOP)) {
        if (::unlinkat(parent.get(), name.c_str(), 0) != 0 && errno != ENOENT) throw_errno("remove", clean);
        return;
    }
    if (!root) throw_errno("remove", clean);
    TreeRemover(root.get(), clean).run();
    failpoint("tree.emptied");
    if (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
        throw_errno("remove", clean);
}

std::uint64_t free_bytes(const fs::path& path) {
    struct statvfs info {};
    if (::statvfs(path.c_str(), &info) != 0) throw_errno("measure the free space of", path);
    return std::uint64_t{info.f_bavail} * info.f_frsize;
}

TemporaryDirectory::TemporaryDirectory(const fs::path& parent, std::string_view prefix) {
    std::string name = (parent / (std::string(prefix) + "XXXXXX")).native();
    if (::mkdtemp(name.data()) == nullptr) throw_errno("create", name);
    failpoint("folder.temporary");
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    try {
        remove_tree(path_);
    } catch (const std::exception& e) {
        log::debug("temporary directory stays", {{"error", e.what()}});
    }
}

}  // namespace svc
