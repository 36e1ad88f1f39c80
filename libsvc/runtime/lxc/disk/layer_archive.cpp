#include "libsvc/runtime/lxc/disk/layer_archive.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/block_compressor.h"
#include "libsvc/runtime/lxc/disk/folder.h"

namespace svc::lxc {

namespace {

constexpr std::size_t block_bytes = std::size_t{128} << 10;
constexpr std::size_t most_at_once = std::size_t{1} << 20;

Error layer_error(const std::string& path) {
    return system_error("cannot export " + quoted(path), errno);
}

// What an image may hold of a file's attributes.
bool is_exported(std::string_view attribute) {
    return attribute.starts_with("user.") || attribute == "security.capability";
}

}  // namespace

LayerArchive::LayerArchive(FileDescriptor tree, GuestIds ids, const ExportRequest& request,
                           std::function<void()> released)
    : ids_(ids), writer_(std::make_unique<BlockCompressor>(request.compression)), block_(block_bytes, '\0') {
    ArchiveEntry entry;
    entry.path = "metadata.yaml";
    entry.kind = EntryKind::file;
    entry.size = request.metadata.size();
    entry.mode = 0644;
    entry.modified = timespec{0, 0};  // so that the archive has the same bytes each time
    writer_.begin(entry);
    writer_.write(request.metadata);
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
    ArchiveEntry entry = file_entry(path, info, ids_);
    add_attributes(entry, folder.get(), ids_, is_exported);
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
    ArchiveEntry entry = file_entry(level.path + "/" + name, info, ids_);
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
    if (entry.kind == EntryKind::symbolic_link) entry.link_target = link_target_in(folder, name);
    writer_.begin(entry);
}

void LayerArchive::add_file(int folder, const std::string& name, ArchiveEntry entry) {
    FileDescriptor file = open_file_in(folder, name);
    // No image may be larger; without a limit a sparse file could keep this busy for years.
    constexpr std::uint64_t most = ArchiveLimits{}.max_bytes;
    if (entry.size > most || total_ > most - entry.size)
        throw Error(ErrorCode::exhausted, "layers hold more than " + std::to_string(most) + " bytes");
    total_ += entry.size;
    add_attributes(entry, file.get(), ids_, is_exported);
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

}  // namespace svc::lxc
