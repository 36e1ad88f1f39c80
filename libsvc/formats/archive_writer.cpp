#include "libsvc/formats/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/utf8_locale.h"

namespace svc {

namespace {

struct WriterEntry {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using EntryPointer = std::unique_ptr<archive_entry, WriterEntry>;

unsigned type_of(const ArchiveEntry& entry) {
    switch (entry.kind) {
        case EntryKind::directory:
            return AE_IFDIR;
        case EntryKind::symbolic_link:
            return AE_IFLNK;
        case EntryKind::fifo:
            return AE_IFIFO;
        case EntryKind::file:
        case EntryKind::hard_link:
            return AE_IFREG;
        case EntryKind::other:
            break;
    }
    throw Error(ErrorCode::internal,
                "cannot write the archive: " + quoted(entry.path) + " is of no known kind");
}

// Owners as numbers only: user names of this machine have no meaning in the archive.
EntryPointer convert(const ArchiveEntry& from) {
    EntryPointer entry(archive_entry_new());
    if (!entry) throw Error(ErrorCode::internal, "cannot write the archive: out of memory");
    archive_entry_set_pathname(entry.get(), from.path.c_str());
    archive_entry_set_filetype(entry.get(), type_of(from));
    archive_entry_set_perm(entry.get(), static_cast<mode_t>(from.mode));
    archive_entry_set_uid(entry.get(), from.uid);
    archive_entry_set_gid(entry.get(), from.gid);
    archive_entry_set_size(entry.get(),
                           from.kind == EntryKind::file ? static_cast<la_int64_t>(from.size) : 0);
    if (from.modified) archive_entry_set_mtime(entry.get(), from.modified->tv_sec, from.modified->tv_nsec);
    if (from.kind == EntryKind::symbolic_link)
        archive_entry_set_symlink(entry.get(), from.link_target.c_str());
    if (from.kind == EntryKind::hard_link) archive_entry_set_hardlink(entry.get(), from.link_target.c_str());
    for (const auto& [name, value] : from.attributes)
        archive_entry_xattr_add_entry(entry.get(), name.c_str(), value.data(), value.size());
    return entry;
}

}  // namespace

void ArchiveWriter::Free::operator()(archive* writer) const {
    archive_write_free(writer);
}

ArchiveWriter::ArchiveWriter(std::unique_ptr<StreamCompressor> compressor)
    : compressor_(std::move(compressor)), archive_(archive_write_new()) {
    archive* const writer = archive_.get();
    if (writer == nullptr) throw Error(ErrorCode::internal, "cannot write the archive: out of memory");
    check(archive_write_set_format_pax_restricted(writer));
    archive_write_set_bytes_in_last_block(writer, 1);
    const auto write = [](archive* of, void* self, const void* bytes, std::size_t size) -> la_ssize_t {
        return append(of, self, bytes, size);
    };
    check(archive_write_open(writer, this, nullptr, write, nullptr));
}

// An archive that was not finished is not completed here; closing libarchive's writer frees the compressor.
ArchiveWriter::~ArchiveWriter() {
    if (finished_) return;
    archive_write_fail(archive_.get());
    archive_write_close(archive_.get());
}

long ArchiveWriter::append(archive*, void* self, const void* bytes, std::size_t size) {
    auto& writer = *static_cast<ArchiveWriter*>(self);
    const std::string_view tar(static_cast<const char*>(bytes), size);
    if (writer.compressor_)
        writer.compressor_->write(tar, writer.made_);
    else
        writer.made_ += tar;
    return static_cast<long>(size);
}

void ArchiveWriter::check(int result) const {
    // ARCHIVE_WARN: a name that is not UTF-8. It is stored without a change.
    if (result >= ARCHIVE_WARN) return;
    const char* const text = archive_error_string(archive_.get());
    throw Error(ErrorCode::internal,
                std::string("cannot write the archive: ") + (text == nullptr ? "unknown reason" : text));
}

void ArchiveWriter::begin(const ArchiveEntry& entry) {
    const Utf8Locale locale;
    check(archive_write_header(archive_.get(), convert(entry).get()));
}

void ArchiveWriter::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const la_ssize_t count = archive_write_data(archive_.get(), bytes.data(), bytes.size());
        if (count < 0) check(ARCHIVE_FATAL);
        if (count == 0)
            throw Error(ErrorCode::internal, "cannot write the archive: a file is longer than it says");
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

void ArchiveWriter::finish() {
    finished_ = true;
    check(archive_write_close(archive_.get()));
    if (compressor_) compressor_->finish(made_);
}

std::string ArchiveWriter::format() const {
    const std::string tar = archive_version_string();
    return compressor_ ? tar + ", " + compressor_->format() : tar;
}

std::string ArchiveWriter::take(std::size_t at_most) {
    std::string bytes = made_.substr(taken_, at_most);
    taken_ += bytes.size();
    if (taken_ * 2 >= made_.size()) {  // rarely, so that the rest is not moved for each byte taken
        made_.erase(0, taken_);
        taken_ = 0;
    }
    return bytes;
}

}  // namespace svc
