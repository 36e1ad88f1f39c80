#pragma once
// The bytes of an archive, decompressed once, with bounds on how many there may be. For ArchiveReader.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"
#include "libsvc/formats/archive_limits.h"
#include "libsvc/formats/decoder.h"

namespace svc {

// Not thread-safe. Throws invalid_argument where the bytes are at fault, "archive unpacks to more than ..."
// beyond the limit.
class ArchiveSource {
  public:
    ArchiveSource(const std::filesystem::path& file, Compression compression, const ExpansionLimit& limit);
    explicit ArchiveSource(FileDescriptor stream);  // not compressed; a pipe or a socket will do

    // The next bytes, valid until the next call; empty at the end, which is the end of the file and of its
    // last compressed stream at once.
    std::string_view next();
    // Reads to the end, where only zeros may be, also in the last `unused` bytes of the piece before: so a
    // truncated archive is found, and nothing hides behind it.
    void finish(std::uint64_t unused);
    void seek(std::uint64_t offset);  // of a file that is not compressed

    std::uint64_t bytes_read() const noexcept { return read_ - input_.size(); }  // of the file
    std::uint64_t bytes_unpacked() const noexcept { return unpacked_; }
    std::uint64_t file_size() const noexcept { return file_size_; }
    void check_expansion(std::uint64_t bytes) const;

  private:
    void fill();
    std::string_view decode();
    void end_stream(bool empty);
    void check_padding(std::string_view piece);

    FileDescriptor file_;
    std::uint64_t file_size_ = 0;
    ExpansionLimit limit_;
    std::unique_ptr<Decoder> decoder_;  // null: not compressed
    std::string buffer_, decoded_;
    std::string_view input_;  // of buffer_: not yet decoded
    std::string_view piece_;  // what next() gave
    bool file_ended_ = false;
    bool in_stream_ = false;
    bool stream_empty_ = true;
    unsigned empty_streams_ = 0;
    std::uint64_t read_ = 0;
    std::uint64_t unpacked_ = 0;
    std::uint64_t padding_ = 0;
};

}  // namespace svc
