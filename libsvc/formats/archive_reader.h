#pragma once
// Reads a tar or zip archive from front to back, one entry after the other, as plain values. Used by
// archive.cpp, package.cpp and package_unpack.cpp.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "libsvc/base/file.h"
#include "libsvc/formats/archive_entry.h"
#include "libsvc/formats/archive_source.h"
#include "libsvc/formats/utf8_locale.h"

struct archive;
struct archive_entry;

namespace svc {

// One run of a file's bytes; the bytes between two runs are zeros. Valid until the next call to the reader.
struct ArchiveBlock {
    std::string_view bytes;
    std::uint64_t offset = 0;
};

enum class ArchiveFormat { tar, zip };

// A tarball is compressed once or not at all; of a zip archive the entries are, by "deflate" alone. Not
// thread-safe. All members throw invalid_argument "archive is malformed: ..." where the bytes are at fault,
// and "archive unpacks to more than ..." beyond the limit.
class ArchiveReader {
  public:
    explicit ArchiveReader(const std::filesystem::path& file, ArchiveFormat format = ArchiveFormat::tar,
                           const ExpansionLimit& limit = {});
    // A tar stream that is not compressed, as it arrives.
    explicit ArchiveReader(FileDescriptor stream);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    // Goes to the next entry, skipping the unread rest of the one before. False at the end of the archive,
    // which has been read to its last byte then.
    bool next(ArchiveEntry& entry);
    std::optional<ArchiveBlock> next_block();  // of the current file

    std::uint64_t bytes_read() const noexcept { return source_.bytes_read(); }  // of the file
    std::uint64_t bytes_unpacked() const;                                       // of the tar stream
    std::uint64_t file_size() const noexcept { return source_.file_size(); }
    // Refuses an archive whose files are `bytes` long together.
    void check_expansion(std::uint64_t bytes) const { source_.check_expansion(bytes); }

  private:
    struct Free {
        void operator()(archive* reader) const;
    };
    static long on_read(archive* reader, void* self, const void** piece);
    static std::int64_t on_seek(archive* reader, void* self, std::int64_t offset, int whence);
    void open();
    int next_header();
    std::string_view next_piece();
    void count_header(std::size_t bytes);
    void check_method() const;
    [[noreturn]] void throw_malformed() const;

    ArchiveFormat format_;
    ArchiveSource source_;
    Utf8Locale locale_;  // libarchive asks the thread for it
    std::unique_ptr<archive, Free> archive_;
    archive_entry* entry_ = nullptr;  // of archive_
    std::exception_ptr failure_;      // of source_, on its way through libarchive
    bool in_header_ = true;
    std::string_view pending_;         // of source_, not yet with libarchive
    std::uint64_t header_bytes_ = 0;   // of the current entry
    std::uint64_t large_headers_ = 0;  // of all
};

}  // namespace svc
