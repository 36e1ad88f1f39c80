#pragma once
// What compresses an archive while it is made. Programs that compress none, as svc-agent, link no compressor.
#include <string>
#include <string_view>

namespace svc {

// One thread at a time. Throws internal.
class StreamCompressor {
  public:
    StreamCompressor() = default;
    virtual ~StreamCompressor() = default;
    StreamCompressor(const StreamCompressor&) = delete;
    StreamCompressor& operator=(const StreamCompressor&) = delete;

    // Appends to `out` what is ready.
    virtual void write(std::string_view bytes, std::string& out) = 0;
    virtual void finish(std::string& out) = 0;
    // Changes wherever the bytes do: "zstd 1.5.4 in MiB".
    virtual std::string format() const = 0;
};

}  // namespace svc
