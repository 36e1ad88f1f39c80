#pragma once
// Reads a tar or zip archive from front to back, one entry after the other, as plain values. Used by
// archive.cpp, package.cpp and package_unpack.cpp.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "libsvc/base/file.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/archive_entry.h"
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

// Not thread-safe. All members throw invalid_argument "archive is malformed: ..." where the bytes are at
// fault.
class ArchiveReader {
  public:
    explicit ArchiveReader(const std::filesystem::path& file, ArchiveFormat format = ArchiveFormat::tar);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    // Goes to the next entry, skipping the unread rest of the one before. False at the end of the archive.
    bool next(ArchiveEntry& entry);
    std::optional<ArchiveBlock> next_block();  // of the current file

    std::uint64_t bytes_read() const;      // of the file
    std::uint64_t bytes_unpacked() const;  // of the tar stream
    std::uint64_t file_size() const noexcept { return file_size_; }
    // Refuses an archive whose files are `bytes` long together.
    void check_expansion(std::uint64_t bytes, const ExpansionLimit& limit) const;

  private:
    struct Free {
        void operator()(archive* reader) const;
    };
    [[noreturn]] void throw_malformed() const;

    FileDescriptor file_;
    std::uint64_t file_size_ = 0;
    Utf8Locale locale_;  // libarchive asks the thread for it
    std::unique_ptr<archive, Free> archive_;
    archive_entry* entry_ = nullptr;  // of archive_
};

}  // namespace svc
