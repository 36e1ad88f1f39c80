#include "server/state/backup_reader.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/capability.h"
#include "server/state/backup.h"
#include "server/state/digests.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_head = 65536;
// The disks of a backup may be zeros for the most part.
constexpr ExpansionLimit no_limit{std::numeric_limits<std::uint64_t>::max(),
                                  std::numeric_limits<std::uint64_t>::max()};

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
    throw Error(ErrorCode::invalid_argument, "backup: " + quoted(path) + " " + std::string(why));
}

// "layers/x/rootfs" of "layers/x/rootfs/etc/passwd"; "": the entry is a plain file.
std::string root_of(const std::string& path) {
    const auto parts = split(path, '/');
    if (parts.size() >= 2 && parts[0] == "disks") return parts[0] + "/" + parts[1];
    if (parts.size() >= 3 && parts[0] == "layers" && parts[2] == "rootfs")
        return parts[0] + "/" + parts[1] + "/" + parts[2];
    return "";
}

bool is_plain_path(const std::string& path) {
    const auto parts = split(path, '/');
    return std::ranges::all_of(
        parts, [](const std::string& part) { return !part.empty() && part != "." && part != ".."; });
}

bool has_mark(const ArchiveEntry& entry) {
    return std::ranges::any_of(entry.attributes,
                               [](const auto& each) { return each.first == whiteout_mark; });
}

}  // namespace

BackupReader::BackupReader(const fs::path& archive, const fs::path& target, lxc::GuestIds ids)
    : reader_(archive, ArchiveFormat::tar, no_limit), target_(target), ids_(ids) {}

Json BackupReader::unpack() {
    ArchiveEntry entry;
    if (!reader_.next(entry) || entry.path != backup_head) refuse(backup_head, "is not the first file");
    const Json head = Json::parse(read_text(largest_head));
    digests_[entry.path] = sha256_hex(head.dump());
    if (JsonFields(head).require_int("format") != backup_format)
        throw Error(ErrorCode::unsupported, "the backup was made by a newer version of svcd");
    while (!manifest_ && reader_.next(entry)) take(entry);
    close_tree();
    if (!manifest_) throw Error(ErrorCode::invalid_argument, "the backup ends before its manifest");
    verify(*manifest_);
    Json manifest = *manifest_;
    manifest.erase("files");
    manifest.set("runtime", head.at("runtime"));
    return manifest;
}

void BackupReader::take(const ArchiveEntry& given) {
    ArchiveEntry entry = given;
    if (entry.kind == EntryKind::directory && entry.path.ends_with('/')) entry.path.pop_back();
    if (!is_plain_path(entry.path)) refuse(entry.path, "is no path of a backup");
    if (entry.path == backup_manifest) {
        manifest_ = Json::parse(read_text(largest_manifest));
        return;
    }
    const std::string root = root_of(entry.path);
    if (root != tree_) close_tree();
    if (root.empty()) return take_plain(entry);
    if (root != tree_) open_tree(root);
    take_in_tree(entry, root);
}

std::string BackupReader::read_text(std::uint64_t most) {
    std::string text;
    while (const auto block = reader_.next_block()) {
        if (block->offset != text.size() || block->bytes.size() > most - text.size())
            throw Error(ErrorCode::invalid_argument, "backup: a file of its own is too large");
        text.append(block->bytes);
    }
    return text;
}

void BackupReader::copy_to(int file) {
    std::uint64_t at = 0;
    while (const auto block = reader_.next_block()) {
        if (block->offset != at) throw Error(ErrorCode::invalid_argument, "backup: a file has a hole");
        write_all(file, block->bytes);
        at += block->bytes.size();
    }
}

void BackupReader::take_plain(const ArchiveEntry& entry) {
    if (entry.kind != EntryKind::file) refuse(entry.path, "is no file");
    const fs::path path = target_ / entry.path;
    make_directories(path.parent_path());
    const FileDescriptor file = open_file(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    copy_to(file.get());
    if (::fchmod(file.get(), entry.mode & 0755U) != 0 || ::fsync(file.get()) != 0)
        throw system_error("cannot keep " + quoted(entry.path), errno);
    digests_[entry.path] = "";  // filled by verify(), from what is on the disk
}

FileAttributes BackupReader::attributes_of(const ArchiveEntry& entry) const {
    if (entry.uid < 0 || entry.gid < 0 || entry.uid >= ids_.count || entry.gid >= ids_.count)
        refuse(entry.path, "has an owner outside of any container");
    FileAttributes attributes;
    attributes.mode = entry.mode;
    attributes.uid = ids_.base + static_cast<uid_t>(entry.uid);
    attributes.gid = ids_.base + static_cast<gid_t>(entry.gid);
    attributes.modified = entry.modified;
    for (const auto& [name, value] : entry.attributes) {
        if (name.starts_with("user.") || name == "trusted.overlay.opaque")
            attributes.extended.emplace_back(name, value);
        if (name != "security.capability") continue;
        if (auto shifted = shift_capability(value, ids_.base))
            attributes.extended.emplace_back(name, *shifted);
    }
    return attributes;
}

void BackupReader::open_tree(const std::string& root) {
    const fs::path folder = target_ / root;
    make_directories(folder);
    tree_ = root;
    writer_.emplace(folder, true, ids_.base);
}

void BackupReader::take_in_tree(const ArchiveEntry& entry, const std::string& root) {
    const auto inside = [&](const std::string& path) {
        if (path != root && !path.starts_with(root + "/")) refuse(path, "leads out of its tree");
        return path == root ? std::string() : path.substr(root.size() + 1);
    };
    const std::string path = inside(entry.path);
    switch (entry.kind) {
        case EntryKind::directory:
            return writer_->make_directory(path, attributes_of(entry));
        case EntryKind::symbolic_link:
            return writer_->make_symbolic_link(path, entry.link_target, attributes_of(entry));
        case EntryKind::hard_link:
            return writer_->make_hard_link(path, inside(entry.link_target));
        case EntryKind::fifo:
            return writer_->make_fifo(path, attributes_of(entry));
        case EntryKind::other:
            refuse(entry.path, "is of no known kind");
        case EntryKind::file:
            break;
    }
    digests_[entry.path] = "";
    if (has_mark(entry)) return whiteouts_.push_back(path);
    const FileDescriptor file = writer_->create_file(path);
    copy_to(file.get());
    writer_->finish_file(path, file.get(), attributes_of(entry));
}

void BackupReader::close_tree() {
    if (tree_.empty()) return;
    for (const std::string& path : whiteouts_) make_whiteout(path);
    whiteouts_.clear();
    writer_->finish();
    writer_.reset();
    tree_.clear();
}

void BackupReader::make_whiteout(const std::string& path) const {
    const fs::path relative(path);
    const FileDescriptor root = open_file(target_ / tree_, O_PATH | O_DIRECTORY);
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const fs::path parent = relative.has_parent_path() ? relative.parent_path() : fs::path(".");
    const FileDescriptor folder(
        static_cast<int>(::syscall(SYS_openat2, root.get(), parent.c_str(), &how, sizeof how)));
    if (!folder || ::mknodat(folder.get(), relative.filename().c_str(), S_IFCHR, 0) != 0)
        throw system_error("cannot make " + quoted(path), errno);
}

// What is on the disk is compared with the manifest, not what was meant to be written.
void BackupReader::verify(const Json& manifest) const {
    const JsonMembers& files = manifest.at("files").as_object();
    if (files.size() != digests_.size())
        throw Error(ErrorCode::invalid_argument,
                    "the backup does not have the files that its manifest names");
    for (const auto& [encoded, digest] : files) {
        const std::string path = percent_decode(encoded);
        const auto found = digests_.find(path);
        if (found == digests_.end()) refuse(path, "is missing");
        std::string now = found->second;
        struct stat info {};
        if (now.empty() && ::lstat((target_ / path).c_str(), &info) == 0)
            now = S_ISREG(info.st_mode) ? digest_of(target_ / path) : sha256_hex("");
        if (now != digest.as_string()) refuse(path, "is damaged");
    }
}

}  // namespace svc::server::state
