#include "libsvc/formats/archive.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libsvc/base/disk_room.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/capability.h"
#include "libsvc/formats/entry_path.h"
#include "libsvc/formats/tree_writer.h"

namespace svc {

namespace {

constexpr std::int64_t archive_max_id = 65535;
constexpr std::uint64_t progress_step = 4U << 20;

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

std::string shifted_capability(const std::string& value, std::uint32_t id_shift, const std::string& entry) {
    if (id_shift == 0) return value;
    auto shifted = shift_capability(value, id_shift);
    if (!shifted) refuse("entry " + quoted(entry) + " has malformed capabilities");
    return *std::move(shifted);
}

class Unpacker {
  public:
    Unpacker(const std::filesystem::path& archive, const std::filesystem::path& target,
             const UnpackOptions& options)
        : options_(options),
          reader_(archive, ArchiveFormat::tar, options.limits.expansion),
          room_(options.floor_folder.empty() ? target : options.floor_folder, options.floor,
                "unpack an archive"),
          tree_(target, ::geteuid() == 0 || options.id_shift > 0, options.id_shift) {}

    UnpackResult run() {
        ArchiveEntry entry;
        while (reader_.next(entry)) {
            check_stop();
            if (++seen_ > options_.limits.max_entries)
                refuse("archive has more than " + std::to_string(options_.limits.max_entries) + " entries");
            count_bytes(entry);
            unpack(entry);
        }
        if (!found_) refuse("archive has no directory " + quoted(options_.subtree));
        tree_.finish();
        if (options_.progress) options_.progress(reader_.file_size(), reader_.file_size());
        return result_;
    }

  private:
    void check_stop() const {
        if (options_.stop.stop_requested()) throw Error(ErrorCode::cancelled, "unpacking was cancelled");
    }

    void report_progress() {
        if (!options_.progress || reader_.bytes_read() < reported_ + progress_step) return;
        reported_ = reader_.bytes_read();
        options_.progress(reported_, reader_.file_size());
    }

    // Counted before anything is written, and for skipped entries as well, as these are decompressed too.
    void count_bytes(const ArchiveEntry& entry) {
        const std::uint64_t limit = options_.limits.max_bytes;
        if (entry.size > limit || total_bytes_ > limit - entry.size)
            refuse("archive holds more than " + std::to_string(limit) + " bytes");
        total_bytes_ += entry.size;
        reader_.check_expansion(total_bytes_);
    }

    // The path below the subtree: "" for the subtree itself, nothing for an entry outside of it.
    std::optional<std::string> path_in_tree(const std::string& path) const {
        if (path == options_.subtree) return "";
        if (!path.starts_with(options_.subtree + "/")) return std::nullopt;
        return path.substr(options_.subtree.size() + 1);
    }

    void unpack(const ArchiveEntry& entry) {
        const std::optional<std::string> path = path_in_tree(clean_entry_path(entry.path, entry.path));
        report_progress();
        if (!path) return;
        if (path->empty()) check_top(entry);
        found_ = true;
        ++result_.entries;
        room_.take_file();
        create(*path, entry);
    }

    void check_top(const ArchiveEntry& entry) {
        if (entry.kind != EntryKind::directory) refuse("entry " + quoted(entry.path) + " is not a directory");
        if (top_seen_) refuse("entry " + quoted(entry.path) + " appears twice");
        top_seen_ = true;
    }

    void create(const std::string& path, const ArchiveEntry& entry) {
        switch (entry.kind) {
            case EntryKind::directory:
                return tree_.make_directory(path, attributes_of(entry));
            case EntryKind::file:
                return write_file(path, entry);
            case EntryKind::symbolic_link:
                return tree_.make_symbolic_link(path, entry.link_target, attributes_of(entry));
            case EntryKind::fifo:
                return tree_.make_fifo(path, attributes_of(entry));
            case EntryKind::hard_link:
                return tree_.make_hard_link(path, link_source(entry));
            case EntryKind::other:
                refuse("device node " + quoted(entry.path) + " not allowed");
        }
    }

    std::string link_source(const ArchiveEntry& entry) const {
        const auto source = path_in_tree(clean_entry_path(entry.link_target, entry.path));
        if (!source || source->empty())
            refuse("entry " + quoted(entry.path) + " is a hard link that leaves the tree");
        return *source;
    }

    void write_file(const std::string& path, const ArchiveEntry& entry) {
        const FileDescriptor file = tree_.create_file(path);
        std::uint64_t end = 0;
        while (const auto block = reader_.next_block()) {
            check_stop();
            report_progress();
            if (block->offset + block->bytes.size() > entry.size)
                refuse("entry " + quoted(entry.path) + " is longer than it says");
            room_.take(block->bytes.size());
            write_block(file.get(), *block, entry);
            end = std::max<std::uint64_t>(end, block->offset + block->bytes.size());
        }
        // A hole at the end of a file has no block.
        if (end < entry.size && ::ftruncate(file.get(), static_cast<off_t>(entry.size)) != 0)
            throw system_error("cannot unpack " + quoted(entry.path), errno);
        result_.bytes += entry.size;
        tree_.finish_file(path, file.get(), attributes_of(entry));
    }

    static void write_block(int file, const ArchiveBlock& block, const ArchiveEntry& entry) {
        std::string_view rest = block.bytes;
        auto offset = static_cast<off_t>(block.offset);
        while (!rest.empty()) {
            const ssize_t written = ::pwrite(file, rest.data(), rest.size(), offset);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) throw system_error("cannot unpack " + quoted(entry.path), errno);
            rest.remove_prefix(static_cast<std::size_t>(written));
            offset += written;
        }
    }

    FileAttributes attributes_of(const ArchiveEntry& entry) const {
        if (entry.uid < 0 || entry.uid > archive_max_id || entry.gid < 0 || entry.gid > archive_max_id)
            refuse("entry " + quoted(entry.path) + " has an owner above " + std::to_string(archive_max_id));
        FileAttributes attributes;
        attributes.mode = entry.mode;
        attributes.uid = static_cast<uid_t>(entry.uid) + options_.id_shift;
        attributes.gid = static_cast<gid_t>(entry.gid) + options_.id_shift;
        attributes.modified = entry.modified;
        for (const auto& [name, value] : entry.attributes) {
            if (name.starts_with("user.")) attributes.extended.emplace_back(name, value);
            if (name == "security.capability")
                attributes.extended.emplace_back(name,
                                                 shifted_capability(value, options_.id_shift, entry.path));
        }
        return attributes;
    }

    const UnpackOptions& options_;
    ArchiveReader reader_;
    DiskRoom room_;
    TreeWriter tree_;
    UnpackResult result_;
    std::uint64_t seen_ = 0;
    std::uint64_t total_bytes_ = 0;
    std::uint64_t reported_ = 0;
    bool found_ = false;
    bool top_seen_ = false;
};

bool is_member(std::string_view path, std::string_view name) {
    while (path.starts_with("./")) path.remove_prefix(2);
    return path == name;
}

std::string read_member(ArchiveReader& reader, const ArchiveEntry& entry, std::size_t max_size) {
    if (entry.kind != EntryKind::file) refuse("entry " + quoted(entry.path) + " is not a regular file");
    if (entry.size > max_size)
        refuse("entry " + quoted(entry.path) + " is larger than " + std::to_string(max_size) + " bytes");
    std::string content(static_cast<std::size_t>(entry.size), '\0');
    while (const auto block = reader.next_block()) {
        if (block->offset + block->bytes.size() > content.size())
            refuse("entry " + quoted(entry.path) + " is longer than it says");
        content.replace(static_cast<std::size_t>(block->offset), block->bytes.size(), block->bytes);
    }
    return content;
}

}  // namespace

std::optional<std::string> read_archive_member(const std::filesystem::path& archive, std::string_view name,
                                               std::size_t max_size, std::uint64_t search_limit,
                                               bool* searched_all) {
    ArchiveReader reader(archive);
    ArchiveEntry entry;
    std::optional<std::string> content;
    bool ended = false;
    while (!(ended = !reader.next(entry))) {
        if (is_member(entry.path, name)) {
            if (content) refuse("entry " + quoted(entry.path) + " appears twice");
            content = read_member(reader, entry, max_size);
        }
        // To read the next header, libarchive decompresses the rest of this entry.
        const std::uint64_t unread = is_member(entry.path, name) ? 0 : entry.size;
        if (unread > search_limit || reader.bytes_unpacked() > search_limit - unread) break;
    }
    if (searched_all != nullptr) *searched_all = ended;
    return content;
}

UnpackResult unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& target,
                            const UnpackOptions& options) {
    return Unpacker(archive, target, options).run();
}

}  // namespace svc
