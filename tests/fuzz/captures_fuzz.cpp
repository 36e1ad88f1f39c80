// What a guest sends as a picture or a recording, in pieces: no block is larger than it may be, and what is
// kept of a recording was there.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "libsvc/base/error.h"
#include "libsvc/client/captures.h"
#include "libsvc/model/instances/capture.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::captures_target {

namespace {

std::size_t read_blocks(std::string_view bytes, std::size_t piece) {
    CaptureBlocks blocks;
    std::size_t data = 0;
    try {
        for (; !bytes.empty() && !blocks.is_whole(); bytes.remove_prefix(std::min(piece, bytes.size())))
            data += blocks.take(bytes.substr(0, piece)).size();
    } catch (const svc::Error& e) {
        if (std::string_view(e.what()).size() > longest_capture_error) std::abort();
    }
    return data;
}

std::uint64_t keep_fragments(std::string_view bytes, std::size_t piece) {
    WholeFragments fragments;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
        fragments.take(bytes.substr(0, piece));
    return fragments.bytes();
}

}  // namespace

FUZZ_TARGET(captures)(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::uint64_t kept = keep_fragments(bytes, size + 1);
    if (kept > size || kept != keep_fragments(bytes, 3)) std::abort();
    if (read_blocks(bytes, size + 1) > size || read_blocks(bytes, 3) > size) std::abort();
    return 0;
}

}  // namespace svc::fuzz::captures_target
