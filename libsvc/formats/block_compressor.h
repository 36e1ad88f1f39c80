#pragma once
// Compresses a stream on several cores: each MiB of it is a member of gzip or a frame of zstd by itself, and
// these follow one another, which every decoder of the two formats reads as one stream.
#include <cstddef>
#include <deque>
#include <future>
#include <string>
#include <string_view>

#include "libsvc/formats/compression.h"
#include "libsvc/formats/stream_compressor.h"

namespace svc {

// The bytes that are made depend on the bytes that came alone, not on the cores or on how these were cut.
// Holds two blocks for each core, of at most 8. One thread at a time; what it has begun ends before the
// destructor returns. Throws internal "cannot compress: ...".
class BlockCompressor final : public StreamCompressor {
  public:
    explicit BlockCompressor(Compression compression);  // gzip or zstd
    ~BlockCompressor() override;

    // Waits for the oldest block when all cores have one.
    void write(std::string_view bytes, std::string& out) override;
    void finish(std::string& out) override;
    std::string format() const override;

  private:
    void begin_block(std::string& out);

    const Compression compression_;
    const std::size_t cores_;
    std::string block_;
    std::deque<std::future<std::string>> blocks_;  // in the order of the stream
};

}  // namespace svc
