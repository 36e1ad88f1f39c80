#include "libsvc/formats/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t read_size = 256U << 10;

EntryKind kind_of(archive_entry* entry) {
    if (archive_entry_hardlink(entry) != nullptr) return EntryKind::hard_link;
    switch (archive_entry_filetype(entry)) {
        case AE_IFREG:
            return EntryKind::file;
        case AE_IFDIR:
            return EntryKind::directory;
        case AE_IFLNK:
            return EntryKind::symbolic_link;
        case AE_IFIFO:
            return EntryKind::fifo;
        default:
            return EntryKind::other;
    }
}

std::string text_or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

void read_attributes(archive_entry* from, ArchiveEntry& entry) {
    archive_entry_xattr_reset(from);
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    while (archive_entry_xattr_next(from, &name, &value, &size) == ARCHIVE_OK)
        if (name != nullptr)
            entry.attributes.emplace_back(name, std::string(static_cast<const char*>(value), size));
}

void convert(archive_entry* from, ArchiveEntry& entry) {
    entry.path = text_or_empty(archive_entry_pathname(from));
    entry.kind = kind_of(from);
    entry.link_target = text_or_empty(entry.kind == EntryKind::hard_link ? archive_entry_hardlink(from)
                                                                         : archive_entry_symlink(from));
    const std::int64_t size = archive_entry_size(from);
    entry.size = size > 0 ? static_cast<std::uint64_t>(size) : 0;
    entry.mode = archive_entry_perm(from) & 07777U;
    entry.uid = archive_entry_uid(from);
    entry.gid = archive_entry_gid(from);
    entry.modified.reset();
    if (archive_entry_mtime_is_set(from) != 0)
        entry.modified = timespec{archive_entry_mtime(from), archive_entry_mtime_nsec(from)};
    entry.attributes.clear();
    read_attributes(from, entry);
}

}  // namespace

void ArchiveReader::Free::operator()(archive* reader) const {
    archive_read_free(reader);
}

ArchiveReader::ArchiveReader(const std::filesystem::path& file, ArchiveFormat format)
    : file_(open_file(file, O_RDONLY)), archive_(archive_read_new()) {
    struct stat info {};
    if (::fstat(file_.get(), &info) != 0) throw system_error("cannot read the archive", errno);
    file_size_ = static_cast<std::uint64_t>(info.st_size);
    archive* const reader = archive_.get();
    if (reader == nullptr) throw Error(ErrorCode::internal, "cannot start reading an archive");
    // Only these formats: every other one is one more parser that hostile bytes could reach.
    if (format == ArchiveFormat::zip) {
        archive_read_support_format_zip_seekable(reader);
    } else {
        archive_read_support_filter_gzip(reader);
        archive_read_support_filter_bzip2(reader);
        archive_read_support_filter_xz(reader);
        archive_read_support_filter_zstd(reader);
        archive_read_support_format_tar(reader);
    }
    if (archive_read_open_fd(reader, file_.get(), read_size) != ARCHIVE_OK) throw_malformed();
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::throw_malformed() const {
    const int number = archive_errno(archive_.get());
    if (number == EIO || number == ENOMEM) throw system_error("cannot read the archive", number);
    std::string reason = text_or_empty(archive_error_string(archive_.get()));
    if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
        reason[0] = static_cast<char>(reason[0] + 32);
    throw Error(ErrorCode::invalid_argument,
                "archive is malformed: " + (reason.empty() ? "unknown reason" : reason));
}

bool ArchiveReader::next(ArchiveEntry& entry) {
    const int result = archive_read_next_header(archive_.get(), &entry_);
    if (result == ARCHIVE_EOF) return false;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) throw_malformed();
    convert(entry_, entry);
    if (entry.path.empty())
        throw Error(ErrorCode::invalid_argument, "archive is malformed: an entry has no name");
    return true;
}

std::optional<ArchiveBlock> ArchiveReader::next_block() {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(archive_.get(), &bytes, &size, &offset);
    if (result == ARCHIVE_EOF) return std::nullopt;
    if (result != ARCHIVE_OK) throw_malformed();  // ARCHIVE_WARN: a wrong checksum
    if (offset < 0)
        throw Error(ErrorCode::invalid_argument, "archive is malformed: a block lies before its file");
    return ArchiveBlock{{static_cast<const char*>(bytes), size}, static_cast<std::uint64_t>(offset)};
}

void ArchiveReader::check_expansion(std::uint64_t bytes, const ExpansionLimit& limit) const {
    if (bytes <= limit.always || bytes / limit.max_times < file_size_) return;
    throw Error(ErrorCode::invalid_argument,
                "archive unpacks to more than " + std::to_string(limit.max_times) + " times its size");
}

std::uint64_t ArchiveReader::bytes_read() const {
    return static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), -1));
}

std::uint64_t ArchiveReader::bytes_unpacked() const {
    return static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0));
}

}  // namespace svc
