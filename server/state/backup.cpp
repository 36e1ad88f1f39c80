#include "server/state/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/disk/folder.h"

namespace svc::server::state {

namespace {

constexpr std::size_t flushed_at = std::size_t{1} << 20U;

bool is_whiteout(const struct stat& info) {
    return S_ISCHR(info.st_mode) && info.st_rdev == 0;
}

// What the overlay and the guest need.
bool is_backed_up(std::string_view attribute) {
    return attribute.starts_with("user.") || attribute == "security.capability" ||
           attribute == "trusted.overlay.opaque";
}

// The manifest is JSON, which is UTF-8; names of files are bytes.
std::string as_manifest_path(std::string_view path) {
    std::string text;
    for (const std::string& part : split(path, '/')) text += "/" + percent_encode(part);
    return text.substr(1);
}

}  // namespace

struct BackupWriter::Tree {
    lxc::GuestIds ids;
    std::map<std::pair<dev_t, ino_t>, std::string> linked{};
};

BackupWriter::BackupWriter(const std::filesystem::path& file)
    : target_(std::filesystem::absolute(file)),
      temporary_(target_.native() + ".part-" + to_hex(random_bytes(4))),
      file_(open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0600)) {}

BackupWriter::~BackupWriter() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void BackupWriter::flush(std::size_t from) {
    while (archive_.ready() >= std::max<std::size_t>(from, 1))
        with_context("cannot write " + target_.filename().string(),
                     [&] { write_all(file_.get(), archive_.take(flushed_at)); });
}

void BackupWriter::begin(ArchiveEntry entry) {
    current_ = entry.kind == EntryKind::file ? entry.path : "";
    hash_ = Sha256();
    archive_.begin(entry);
    flush(flushed_at);
}

void BackupWriter::write(std::string_view bytes) {
    hash_.update(bytes);
    archive_.write(bytes);
    flush(flushed_at);
}

void BackupWriter::end_file() {
    digests_[current_] = hash_.hex();
}

void BackupWriter::add_text(const std::string& path, std::string_view text) {
    ArchiveEntry entry;
    entry.path = path;
    entry.kind = EntryKind::file;
    entry.mode = 0600;
    entry.size = text.size();
    begin(std::move(entry));
    write(text);
    end_file();
}

// The archive goes on behind what is not whole.
void BackupWriter::fill(std::uint64_t left) {
    const std::string zeros(65536, '\0');
    for (; left > 0; left -= std::min<std::uint64_t>(left, zeros.size()))
        write(std::string_view(zeros).substr(0, left));
    end_file();
}

void BackupWriter::copy(int file, std::uint64_t left, const std::string& path) {
    std::array<char, 65536> buffer;
    while (left > 0) {
        const ssize_t got = ::read(file, buffer.data(), std::min<std::uint64_t>(buffer.size(), left));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read " + quoted(path), errno);
        if (got == 0) {
            fill(left);
            throw Error(ErrorCode::conflict, quoted(path) + " became shorter while it was read");
        }
        write({buffer.data(), static_cast<std::size_t>(got)});
        left -= static_cast<std::uint64_t>(got);
    }
    end_file();
}

void BackupWriter::add_file(const std::string& path, const std::filesystem::path& source) {
    const FileDescriptor file = open_file(source, O_RDONLY | O_NOFOLLOW);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) throw system_error("cannot look at " + quoted(path), errno);
    ArchiveEntry entry;
    entry.path = path;
    entry.kind = EntryKind::file;
    entry.mode = info.st_mode & 0777U;
    entry.size = static_cast<std::uint64_t>(info.st_size);
    begin(std::move(entry));
    copy(file.get(), static_cast<std::uint64_t>(info.st_size), path);
}

void BackupWriter::add_tree(const std::string& path, const std::filesystem::path& root, lxc::GuestIds ids) {
    Tree tree{ids};
    const FileDescriptor folder = open_file(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    struct stat info {};
    if (::fstat(folder.get(), &info) != 0) throw system_error("cannot look at " + quoted(path), errno);
    ArchiveEntry entry = lxc::file_entry(path, info, ids);
    lxc::add_attributes(entry, folder.get(), ids, is_backed_up);
    begin(std::move(entry));
    add_below(tree, folder.get(), path, 0);
}

void BackupWriter::add_below(Tree& tree, int folder, const std::string& path, unsigned depth) {
    if (depth > lxc::max_tree_depth || path.size() > lxc::max_tree_path)
        throw Error(ErrorCode::unsupported,
                    "folders are nested too deeply in " + quoted(path.substr(0, 200)));
    for (const std::string& name : lxc::sorted_names(folder))
        add_entry(tree, folder, name, path + "/" + name, depth);
}

void BackupWriter::add_entry(Tree& tree, int folder, const std::string& name, const std::string& path,
                             unsigned depth) {
    const struct stat info = lxc::stat_in(folder, name);
    ArchiveEntry entry = lxc::file_entry(path, info, tree.ids);
    if (is_whiteout(info)) {
        entry.kind = EntryKind::file;
        entry.attributes.emplace_back(whiteout_mark, "y");
        begin(std::move(entry));
        return end_file();
    }
    if (entry.kind == EntryKind::other) return;
    if (entry.kind == EntryKind::directory) {
        const FileDescriptor child = lxc::open_folder_in(folder, name);
        lxc::add_attributes(entry, child.get(), tree.ids, is_backed_up);
        begin(std::move(entry));
        return add_below(tree, child.get(), path, depth + 1);
    }
    if (info.st_nlink > 1)
        if (const auto [known, first] = tree.linked.emplace(std::pair{info.st_dev, info.st_ino}, path);
            !first) {
            entry.kind = EntryKind::hard_link;
            entry.link_target = known->second;
            return begin(std::move(entry));
        }
    if (entry.kind == EntryKind::symbolic_link) entry.link_target = lxc::link_target_in(folder, name);
    if (entry.kind != EntryKind::file) return begin(std::move(entry));
    const FileDescriptor file = lxc::open_file_in(folder, name);
    lxc::add_attributes(entry, file.get(), tree.ids, is_backed_up);
    const std::uint64_t size = entry.size;
    begin(std::move(entry));
    copy(file.get(), size, path);
}

void BackupWriter::finish(Json manifest) {
    JsonMembers files;
    files.reserve(digests_.size());
    for (const auto& [path, digest] : digests_) files.emplace_back(as_manifest_path(path), digest);
    manifest.set("files", Json::object(std::move(files)));
    const std::string text = manifest.dump();
    if (text.size() > largest_manifest)
        throw Error(ErrorCode::exhausted, "too many files for a backup; export without disks");
    add_text(backup_manifest, text);
    archive_.finish();
    flush(1);
    if (::fsync(file_.get()) != 0 || std::rename(temporary_.c_str(), target_.c_str()) != 0)
        throw system_error("cannot keep " + target_.filename().string(), errno);
    temporary_.clear();
    sync_directory(target_.parent_path());
}

}  // namespace svc::server::state
