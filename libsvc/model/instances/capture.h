#pragma once
// What the service and svc-streamer say to each other when somebody wants to see what an instance shows
// (docs/captures.md): a line of JSON asks, blocks answer. A block is its kind, its length as 32 bits, little
// endian, and so many bytes.
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

constexpr std::string_view capture_socket = "/run/svc/screen.unix";  // inside the instance
constexpr std::chrono::seconds longest_recording{3600};
constexpr std::size_t largest_capture_block = 1U << 20;  // bytes
constexpr std::size_t longest_capture_error = 1000;      // bytes

struct CaptureRequest {
    enum class Kind { screenshot, recording } kind = Kind::screenshot;
    std::chrono::seconds length{0};  // of a recording: 1 s to longest_recording

    Json to_json() const;
    static CaptureRequest parse(const std::string& line);  // throws invalid_argument
};
std::string_view to_text(CaptureRequest::Kind kind);

enum class CaptureBlock : char {
    data = 'd',
    whole = 'w',  // the last one, empty: all has been sent
    busy = 'b',   // the last one: another recording goes on
    failed = 'f'  // the last one: why it failed, for people
};
std::string capture_block(CaptureBlock kind, std::string_view bytes);

// Reads blocks, which may be hostile. One thread.
class CaptureBlocks {
  public:
    // Returns what `bytes` have of the picture. Throws busy or unavailable with what a block says, without
    // its control characters; unavailable for what is no block.
    std::string take(std::string_view bytes);
    bool is_whole() const { return whole_; }

  private:
    void start_block();
    void end_block();

    std::string head_, said_;
    CaptureBlock kind_ = CaptureBlock::data;
    std::size_t left_ = 0;  // of the block's bytes
    bool inside_ = false, whole_ = false;
};

}  // namespace svc
