#pragma once
// Undoes one compression, piece by piece, within bounded memory. It uses zlib, libbz2, liblzma and libzstd
// themselves: libarchive's own filters would undo any number of compressions one upon the other, do not check
// what gzip says of its content, and give xz as much memory as the archive asks for.
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "libsvc/formats/compression.h"

namespace svc {

// Not thread-safe.
class Decoder {
  public:
    struct Step {
        std::size_t taken = 0;  // of the input
        std::size_t made = 0;
        bool ended = false;  // a whole stream has been read: call restart() before the next one
    };
    virtual ~Decoder() = default;
    // Throws invalid_argument "archive is malformed: ...".
    virtual Step decode(std::string_view in, std::span<char> out) = 0;
    virtual void restart() = 0;
};

// Null for Compression::none. Throws invalid_argument for an unknown compression.
std::unique_ptr<Decoder> make_decoder(Compression compression);

}  // namespace svc
