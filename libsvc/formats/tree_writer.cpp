#include "libsvc/formats/tree_writer.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

// Bytes of the recorded directories: a small archive can have a million directories with long names.
constexpr std::size_t max_remembered_bytes = std::size_t{64} << 20;

[[noreturn]] void refuse(const std::string& path, std::string_view reason) {
    throw Error(ErrorCode::invalid_argument, "entry " + quoted(path) + " " + std::string(reason));
}

[[noreturn]] void throw_errno(const std::string& path) {
    const int number = errno;
    if (number == ELOOP) refuse(path, "lies beneath a symbolic link");
    if (number == ENOTDIR) refuse(path, "lies beneath a file");
    if (number == ENAMETOOLONG) refuse(path, "has too long a name");
    if (number == EXDEV) refuse(path, "leaves the tree");
    throw system_error("cannot unpack " + quoted(path), number);
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

const char* name_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

std::array<timespec, 2> times_of(const FileAttributes& attributes) {
    const timespec unchanged{0, UTIME_OMIT};
    return {unchanged, attributes.modified.value_or(unchanged)};
}

}  // namespace

TreeWriter::TreeWriter(const std::filesystem::path& target, bool keep_owners, uid_t owner)
    : target_(open_file(target, O_RDONLY | O_DIRECTORY)), keep_owners_(keep_owners) {
    undescribed_.mode = 0755;
    undescribed_.uid = owner;
    undescribed_.gid = owner;
    remember("", undescribed_);
}

FileDescriptor TreeWriter::open_beneath(const std::string& path, int flags) const {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const char* const name = path.empty() ? "." : path.c_str();
    for (;;) {
        FileDescriptor file(static_cast<int>(syscall(SYS_openat2, target_.get(), name, &how, sizeof how)));
        if (file || (errno != EAGAIN && errno != EINTR))
            return file;  // EAGAIN: a rename somewhere on the machine interfered
    }
}

FileDescriptor TreeWriter::open_parent(const std::string& entry, const std::string& parent) {
    FileDescriptor directory = open_beneath(parent, O_PATH | O_DIRECTORY);
    if (directory || errno != ENOENT || parent.empty()) return directory;
    const FileDescriptor above = open_parent(entry, parent_of(parent));
    if (!above) return {};
    if (make_one_directory(above.get(), name_of(parent), parent)) remember(parent, undescribed_);
    return open_beneath(parent, O_PATH | O_DIRECTORY);
}

TreeWriter::Place TreeWriter::place_of(const std::string& path) {
    std::string parent = parent_of(path);
    if (!cached_ || parent != cached_path_) {
        cached_ = open_parent(path, parent);
        if (!cached_) throw_errno(path);
        cached_path_ = std::move(parent);
    }
    return {cached_.get(), name_of(path)};
}

// False: the directory exists already.
bool TreeWriter::make_one_directory(int parent, const char* name, const std::string& path) {
    if (::mkdirat(parent, name, 0700) == 0) return true;
    if (errno != EEXIST) throw_errno(path);
    struct stat info {};
    if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) throw_errno(path);
    if (!S_ISDIR(info.st_mode)) refuse(path, "is a directory in the place of something else");
    return false;
}

void TreeWriter::remember(const std::string& path, FileAttributes attributes) {
    remembered_bytes_ += sizeof(Directory) + path.size();
    for (const auto& [name, value] : attributes.extended)
        remembered_bytes_ += name.size() + value.size() + 64;
    if (remembered_bytes_ > max_remembered_bytes)
        throw Error(ErrorCode::invalid_argument, "archive holds too many directories");
    directories_.push_back({path, std::move(attributes)});
}

void TreeWriter::make_directory(const std::string& path, FileAttributes attributes) {
    if (!path.empty()) {
        const Place place = place_of(path);
        make_one_directory(place.parent, place.name, path);
    }
    remember(path, std::move(attributes));
}

template <class Create>
int TreeWriter::create_or_replace(const std::string& path, const Place& place, Create&& create) {
    int result = create(place);
    if (result < 0 && errno == EEXIST) {
        if (::unlinkat(place.parent, place.name, 0) != 0) {
            if (errno == EISDIR || errno == EPERM) refuse(path, "takes the place of a directory");
            throw_errno(path);
        }
        result = create(place);
    }
    if (result < 0) throw_errno(path);
    return result;
}

FileDescriptor TreeWriter::create_file(const std::string& path) {
    return FileDescriptor(create_or_replace(path, place_of(path), [](const Place& at) {
        return ::openat(at.parent, at.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }));
}

// Sets the owner first: a change of owner clears setuid bits and capabilities.
void TreeWriter::finish_file(const std::string& path, int file, const FileAttributes& attributes) {
    failpoint("tree.entry_made");
    if (keep_owners_ && ::fchown(file, attributes.uid, attributes.gid) != 0) throw_errno(path);
    if (::fchmod(file, attributes.mode) != 0) throw_errno(path);
    set_extended(path, file, attributes);
    if (attributes.modified && ::futimens(file, times_of(attributes).data()) != 0) throw_errno(path);
}

void TreeWriter::set_extended(const std::string& path, int file, const FileAttributes& attributes) {
    for (const auto& [name, value] : attributes.extended) {
        if (::fsetxattr(file, name.c_str(), value.data(), value.size(), 0) == 0) continue;
        // A file system without extended attributes, or with a low limit, must not make an image unusable.
        const bool dispensable =
            name.starts_with("user.") && (errno == ENOTSUP || errno == ENOSPC || errno == E2BIG);
        const bool not_ours = !keep_owners_ && errno == EPERM;
        if (!dispensable && !not_ours) throw_errno(path);
    }
}

void TreeWriter::make_symbolic_link(const std::string& path, const std::string& text,
                                    const FileAttributes& attributes) {
    const Place place = place_of(path);
    create_or_replace(path, place,
                      [&text](const Place& at) { return ::symlinkat(text.c_str(), at.parent, at.name); });
    if (keep_owners_ &&
        ::fchownat(place.parent, place.name, attributes.uid, attributes.gid, AT_SYMLINK_NOFOLLOW) != 0)
        throw_errno(path);
    if (attributes.modified &&
        ::utimensat(place.parent, place.name, times_of(attributes).data(), AT_SYMLINK_NOFOLLOW) != 0)
        throw_errno(path);
}

void TreeWriter::make_fifo(const std::string& path, const FileAttributes& attributes) {
    const Place place = place_of(path);
    create_or_replace(path, place, [](const Place& at) { return ::mkfifoat(at.parent, at.name, 0600); });
    // Opened for reading and writing: to open one end of a fifo would block.
    const FileDescriptor fifo(
        ::openat(place.parent, place.name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fifo) throw_errno(path);
    finish_file(path, fifo.get(), attributes);
}

void TreeWriter::make_hard_link(const std::string& path, const std::string& source) {
    if (path == source) refuse(path, "is a hard link to itself");
    const FileDescriptor source_parent = open_beneath(parent_of(source), O_PATH | O_DIRECTORY);
    if (!source_parent && errno == ENOENT) refuse(path, "is a hard link to nothing");
    if (!source_parent) throw_errno(path);
    struct stat info {};
    if (::fstatat(source_parent.get(), name_of(source), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        refuse(path, "is a hard link to nothing");
    if (S_ISDIR(info.st_mode)) refuse(path, "is a hard link to a directory");
    create_or_replace(path, place_of(path), [&](const Place& at) {
        return ::linkat(source_parent.get(), name_of(source), at.parent, at.name, 0);
    });
}

void TreeWriter::finish_directory(const Directory& directory) {
    const FileDescriptor file = open_beneath(directory.path, O_RDONLY | O_DIRECTORY);
    if (!file) throw_errno(directory.path);
    finish_file(directory.path, file.get(), directory.attributes);
}

void TreeWriter::finish() {
    // Children before their parents, as the mode of a parent may deny access; of two descriptions of one
    // directory the later counts.
    std::stable_sort(directories_.begin(), directories_.end(),
                     [](const Directory& a, const Directory& b) { return a.path > b.path; });
    for (std::size_t i = 0; i < directories_.size(); ++i)
        if (i + 1 == directories_.size() || directories_[i + 1].path != directories_[i].path)
            finish_directory(directories_[i]);
    failpoint("tree.written");
    if (::syncfs(target_.get()) != 0) throw system_error("cannot sync the unpacked archive", errno);
    failpoint("tree.synced");
}

}  // namespace svc
