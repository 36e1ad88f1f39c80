#pragma once
// Makes a tarball in memory, piece by piece; libarchive does the encoding, a StreamCompressor the
// compression. The caller takes the bytes while they are made, so memory use is constant.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/formats/archive.h"
#include "libsvc/formats/archive_entry.h"
#include "libsvc/formats/stream_compressor.h"

struct archive;

namespace svc {

// The same entries give the same bytes. Pax headers keep names of any length and bytes, large files and
// extended attributes. One thread at a time. Throws internal "cannot write the archive: ...".
class ArchiveWriter {
  public:
    explicit ArchiveWriter(std::unique_ptr<StreamCompressor> compressor = nullptr);  // null: a plain tarball
    ~ArchiveWriter();
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;

    // The `size` bytes of a file follow with write().
    void begin(const ArchiveEntry& entry);
    void write(std::string_view bytes);
    void finish();  // after the last entry

    std::size_t ready() const noexcept { return made_.size() - taken_; }
    std::string take(std::size_t at_most);  // of the bytes made so far
    std::string format() const;             // changes wherever the bytes of the same entries do

  private:
    struct Free {
        void operator()(archive* writer) const;
    };
    void check(int result) const;
    static long append(archive* writer, void* self, const void* bytes, std::size_t size);

    std::string made_;
    std::size_t taken_ = 0;
    std::unique_ptr<StreamCompressor> compressor_;
    bool finished_ = false;
    std::unique_ptr<archive, Free> archive_;  // after what it writes to
};

}  // namespace svc
