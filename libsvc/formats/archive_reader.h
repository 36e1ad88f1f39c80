#pragma once
// A tar archive read from front to back: what libarchive tells about each entry, as plain values. Used by
// archive.cpp.
#include <sys/types.h>

#include <locale.h>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"

struct archive;
struct archive_entry;

namespace svc {

enum class EntryKind { file, directory, symbolic_link, hard_link, fifo, other };

struct ArchiveEntry {
    std::string path;  // as written in the archive
    EntryKind kind = EntryKind::other;
    std::string link_target;  // of both sorts of links
    std::uint64_t size = 0;   // of a file
    unsigned mode = 0;        // permission bits with setuid, setgid and sticky
    std::int64_t uid = 0;
    std::int64_t gid = 0;
    std::optional<timespec> modified;
    std::vector<std::pair<std::string, std::string>> attributes;  // extended ones: name, value
};

// One run of a file's bytes; what lies between two runs is zeros. Valid until the next call to the reader.
struct ArchiveBlock {
    std::string_view bytes;
    std::uint64_t offset = 0;
};

// One thread. Everything throws invalid_argument "archive is malformed: ..." where the bytes are at fault.
class ArchiveReader {
  public:
    explicit ArchiveReader(const std::filesystem::path& file);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    // False at the end. Skips what was not read of the entry before.
    bool next(ArchiveEntry& entry);
    std::optional<ArchiveBlock> next_block();  // of the current file

    std::uint64_t bytes_read() const;      // of the file
    std::uint64_t bytes_unpacked() const;  // of the tar stream
    std::uint64_t file_size() const noexcept { return file_size_; }

  private:
    // Names are UTF-8 whatever the process was started with; libarchive asks the thread's locale.
    class Utf8Locale {
      public:
        Utf8Locale();
        ~Utf8Locale();
        Utf8Locale(const Utf8Locale&) = delete;
        Utf8Locale& operator=(const Utf8Locale&) = delete;

      private:
        locale_t utf8_;
        locale_t before_;
    };
    struct Free {
        void operator()(archive* reader) const;
    };
    [[noreturn]] void throw_malformed() const;

    FileDescriptor file_;
    std::uint64_t file_size_ = 0;
    Utf8Locale locale_;
    std::unique_ptr<archive, Free> archive_;
    archive_entry* entry_ = nullptr;  // of archive_
};

}  // namespace svc
