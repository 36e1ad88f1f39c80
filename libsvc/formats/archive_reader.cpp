#include "libsvc/formats/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

namespace {

// What libarchive may read to find the next entry. Without a bound, a few kilobytes could make it remember
// millions of holes of a sparse file (twelve times what it has read of their list), or the whole directory of
// a zip archive, which it reads before the first entry; and the time that it takes for access lists grows
// with the square of their length.
constexpr std::uint64_t max_tar_header = 256U << 10;
constexpr std::uint64_t max_zip_header = 32U << 20;
constexpr std::uint64_t usual_tar_header = 8U << 10;
constexpr std::uint64_t max_large_headers = 64U << 20;  // of an archive, together
// It gets its input in pieces, so that what it has not yet looked at is little.
constexpr std::size_t header_piece = 4U << 10;
constexpr std::size_t data_piece = 64U << 10;

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

ArchiveReader::ArchiveReader(const std::filesystem::path& file, ArchiveFormat format,
                             const ExpansionLimit& limit)
    : format_(format),
      source_(file, format == ArchiveFormat::zip ? Compression::none : detect_compression(file), limit),
      archive_(archive_read_new()) {
    if (archive_ == nullptr) throw Error(ErrorCode::internal, "cannot start reading an archive");
    open();
}

ArchiveReader::ArchiveReader(FileDescriptor stream)
    : format_(ArchiveFormat::tar), source_(std::move(stream)), archive_(archive_read_new()) {
    if (archive_ == nullptr) throw Error(ErrorCode::internal, "cannot start reading an archive");
    open();
}

void ArchiveReader::open() {
    archive* const reader = archive_.get();
    // Only these formats: every other one is one more parser that hostile bytes could reach.
    if (format_ == ArchiveFormat::zip) {
        archive_read_support_format_zip_seekable(reader);
        archive_read_set_seek_callback(reader, on_seek);
    } else {
        archive_read_support_format_tar(reader);
    }
    archive_read_set_read_callback(reader, on_read);
    archive_read_set_callback_data(reader, this);
    if (archive_read_open1(reader) != ARCHIVE_OK) throw_malformed();
}

long ArchiveReader::on_read(archive* reader, void* self, const void** piece) {
    auto* const own = static_cast<ArchiveReader*>(self);
    try {
        const std::string_view bytes = own->next_piece();
        *piece = bytes.data();
        return static_cast<long>(bytes.size());
    } catch (...) {
        own->failure_ = std::current_exception();
        archive_set_error(reader, EIO, "cannot be read");
        return ARCHIVE_FATAL;
    }
}

std::int64_t ArchiveReader::on_seek(archive*, void* self, std::int64_t offset, int whence) {
    auto& source = static_cast<ArchiveReader*>(self)->source_;
    const auto size = static_cast<std::int64_t>(source.file_size());
    const auto here = static_cast<std::int64_t>(source.bytes_read());
    const std::int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_END ? size : here;
    if (offset < -from || offset > size - from) return ARCHIVE_FATAL;
    source.seek(static_cast<std::uint64_t>(from + offset));
    return from + offset;
}

std::string_view ArchiveReader::next_piece() {
    if (pending_.empty()) pending_ = source_.next();
    const std::size_t most = in_header_ ? header_piece : data_piece;
    const std::string_view piece = format_ == ArchiveFormat::zip ? pending_ : pending_.substr(0, most);
    pending_.remove_prefix(piece.size());
    if (in_header_) count_header(piece.size());
    return piece;
}

void ArchiveReader::count_header(std::size_t bytes) {
    const std::uint64_t most = format_ == ArchiveFormat::zip ? max_zip_header : max_tar_header;
    header_bytes_ += bytes;
    if (header_bytes_ > most)
        throw_malformed_archive("what describes an entry is larger than " + std::to_string(most >> 10) +
                                " KiB");
    if (format_ == ArchiveFormat::zip || header_bytes_ <= usual_tar_header) return;
    large_headers_ += bytes;
    if (large_headers_ > max_large_headers)
        throw_malformed_archive("what describes its entries is larger than " +
                                std::to_string(max_large_headers >> 20) + " MiB");
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::throw_malformed() const {
    if (failure_) std::rethrow_exception(failure_);
    const int number = archive_errno(archive_.get());
    if (number == EIO || number == ENOMEM) throw system_error("cannot read the archive", number);
    std::string reason = text_or_empty(archive_error_string(archive_.get()));
    if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
        reason[0] = static_cast<char>(reason[0] + 32);
    throw_malformed_archive(reason.empty() ? "unknown reason" : reason);
}

bool ArchiveReader::next(ArchiveEntry& entry) {
    const int result = next_header();
    if (result == ARCHIVE_EOF) {
        if (format_ == ArchiveFormat::tar) source_.finish(source_.bytes_unpacked() - bytes_unpacked());
        return false;
    }
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) throw_malformed();
    if (format_ == ArchiveFormat::zip) check_method();
    convert(entry_, entry);
    if (entry.path.empty()) throw_malformed_archive("an entry has no name");
    return true;
}

int ArchiveReader::next_header() {
    in_header_ = false;
    if (entry_ != nullptr && archive_read_data_skip(archive_.get()) < ARCHIVE_WARN) throw_malformed();
    in_header_ = true;
    header_bytes_ = 0;
    const int result = archive_read_next_header(archive_.get(), &entry_);
    in_header_ = false;
    return result;
}

// The other methods are decoded with as much memory as the archive asks for. libarchive tells the method of
// the current entry in the name of the format alone.
void ArchiveReader::check_method() const {
    const std::string_view name = archive_format_name(archive_.get());
    if (!name.ends_with("(uncompressed)") && !name.ends_with("(deflation)"))
        throw_malformed_archive("an entry is neither stored nor deflated");
}

std::optional<ArchiveBlock> ArchiveReader::next_block() {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(archive_.get(), &bytes, &size, &offset);
    if (result == ARCHIVE_EOF) return std::nullopt;
    if (result != ARCHIVE_OK) throw_malformed();  // ARCHIVE_WARN: a wrong checksum
    if (offset < 0) throw_malformed_archive("a block lies before its file");
    return ArchiveBlock{{static_cast<const char*>(bytes), size}, static_cast<std::uint64_t>(offset)};
}

std::uint64_t ArchiveReader::bytes_unpacked() const {
    return static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0));
}

}  // namespace svc
