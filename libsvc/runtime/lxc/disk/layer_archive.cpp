#include "libsvc/runtime/lxc/disk/layer_archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/capability.h"
#include "libsvc/runtime/lxc/disk/folder.h"

namespace svc::lxc {

namespace {

constexpr std::size_t block_bytes = std::size_t{128} << 10;
constexpr std::size_t most_at_once = std::size_t{1} << 20;
constexpr std::uint32_t nobody = 65534;
constexpr std::size_t max_attribute_bytes = 65536;  // the kernel's limit of a value and of all names

Error layer_error(const std::string& path) {
    return system_error("cannot export " + quoted(path), errno);
}

std::vector<std::string> attribute_names(int file) {
    std::string names(max_attribute_bytes, '\0');
    const ssize_t size = ::flistxattr(file, names.data(), names.size());
    if (size <= 0) return {};
    names.resize(static_cast<std::size_t>(size) - 1);  // each ends with a zero byte
    std::vector<std::string> sorted = split(names, '\0');
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

std::string attribute(int file, const std::string& name) {
    std::string value(max_attribute_bytes, '\0');
    const ssize_t size = ::fgetxattr(file, name.c_str(), value.data(), value.size());
    if (size < 0) throw layer_error(name);
    value.resize(static_cast<std::size_t>(size));
    return value;
}

std::string link_text(int folder, const std::string& name) {
    std::array<char, 4097> text{};
    const ssize_t size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
    if (size < 0) throw layer_error(name);
    return {text.data(), static_cast<std::size_t>(size)};
}

EntryKind kind_of(const struct stat& info) {
    switch (info.st_mode & S_IFMT) {
        case S_IFREG:
            return EntryKind::file;
        case S_IFDIR:
            return EntryKind::directory;
        case S_IFLNK:
            return EntryKind::symbolic_link;
        case S_IFIFO:
            return EntryKind::fifo;
        default:
            return EntryKind::other;
    }
}

}  // namespace

LayerArchive::LayerArchive(FileDescriptor tree, Ids ids, const std::string& metadata,
                           std::function<void()> released)
    : ids_(ids), block_(block_bytes, '\0') {
    ArchiveEntry entry;
    entry.path = "metadata.yaml";
    entry.kind = EntryKind::file;
    entry.size = metadata.size();
    entry.mode = 0644;
    entry.modified = timespec{0, 0};  // so that the archive has the same bytes each time
    writer_.begin(entry);
    writer_.write(metadata);
    enter(open_folder_in(tree.get(), "."), "rootfs");
    released_ = std::move(released);
}

LayerArchive::~LayerArchive() {
    levels_.clear();
    file_.reset();
    if (released_) released_();
}

std::string LayerArchive::read(std::size_t at_most) {
    at_most = std::min(at_most, most_at_once);
    while (!finished_ && writer_.ready() < at_most) advance();
    return writer_.take(at_most);
}

void LayerArchive::advance() {
    if (file_) return copy_block();
    if (levels_.empty()) {
        writer_.finish();
        finished_ = true;
        return;
    }
    Level& level = levels_.back();
    if (level.next == level.names.size()) return levels_.pop_back();
    const std::string name = level.names[level.next++];
    add(level, name);
}

void LayerArchive::enter(FileDescriptor folder, std::string path) {
    if (levels_.size() > max_tree_depth || path.size() > max_tree_path)
        throw Error(ErrorCode::internal, "folders of the layer are nested too deeply");
    struct stat info {};
    if (::fstat(folder.get(), &info) != 0) throw layer_error(path);
    ArchiveEntry entry = describe(path, info);
    add_attributes(entry, folder.get());
    writer_.begin(entry);
    Level level;
    level.names = sorted_names(folder.get());
    level.folder = std::move(folder);
    level.path = std::move(path);
    levels_.push_back(std::move(level));
}

// Device nodes, which a container may not have, and whiteouts of the overlay are left out.
void LayerArchive::add(const Level& level, const std::string& name) {
    const int folder = level.folder.get();
    const struct stat info = stat_in(folder, name);
    ArchiveEntry entry = describe(level.path + "/" + name, info);
    if (entry.kind == EntryKind::other) return;
    if (entry.kind == EntryKind::directory) return enter(open_folder_in(folder, name), std::move(entry.path));
    if (info.st_nlink > 1) {
        const auto [known, first] = linked_.emplace(std::pair{info.st_dev, info.st_ino}, entry.path);
        if (!first) {
            entry.kind = EntryKind::hard_link;
            entry.link_target = known->second;
            entry.size = 0;
            return writer_.begin(entry);
        }
    }
    if (entry.kind == EntryKind::file) return add_file(folder, name, std::move(entry));
    if (entry.kind == EntryKind::symbolic_link) entry.link_target = link_text(folder, name);
    writer_.begin(entry);
}

void LayerArchive::add_file(int folder, const std::string& name, ArchiveEntry entry) {
    FileDescriptor file(
        ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file) throw layer_error(entry.path);
    // No image may be larger; without a limit a sparse file could keep this busy for years.
    constexpr std::uint64_t most = ArchiveLimits{}.max_bytes;
    if (entry.size > most || total_ > most - entry.size)
        throw Error(ErrorCode::exhausted, "layers hold more than " + std::to_string(most) + " bytes");
    total_ += entry.size;
    add_attributes(entry, file.get());
    writer_.begin(entry);
    left_ = entry.size;
    if (left_ > 0) file_ = std::move(file);
}

void LayerArchive::copy_block() {
    const std::size_t wanted = std::min<std::uint64_t>(block_.size(), left_);
    const ssize_t got = ::read(file_.get(), block_.data(), wanted);
    if (got < 0 && errno == EINTR) return;
    if (got < 0) throw layer_error(levels_.back().path);
    if (got == 0) throw Error(ErrorCode::internal, "a file of the layer is shorter than it was");
    writer_.write({block_.data(), static_cast<std::size_t>(got)});
    left_ -= static_cast<std::uint64_t>(got);
    if (left_ == 0) file_.reset();
}

ArchiveEntry LayerArchive::describe(const std::string& path, const struct stat& info) const {
    ArchiveEntry entry;
    entry.path = path;
    entry.kind = kind_of(info);
    entry.mode = info.st_mode & 07777U;
    entry.uid = inside(info.st_uid);
    entry.gid = inside(info.st_gid);
    entry.modified = info.st_mtim;
    if (entry.kind == EntryKind::file) entry.size = static_cast<std::uint64_t>(info.st_size);
    return entry;
}

// The id as the container sees it; an id outside of its range becomes the id of `nobody`.
std::int64_t LayerArchive::inside(std::uint32_t id) const {
    return id >= ids_.base && id - ids_.base < ids_.count ? id - ids_.base : nobody;
}

void LayerArchive::add_attributes(ArchiveEntry& entry, int file) const {
    for (const std::string& name : attribute_names(file)) {
        if (name.starts_with("user.")) entry.attributes.emplace_back(name, attribute(file, name));
        if (name != "security.capability") continue;
        if (auto value = unshift_capability(attribute(file, name), ids_.base, ids_.count))
            entry.attributes.emplace_back(name, *std::move(value));
    }
}

}  // namespace svc::lxc
