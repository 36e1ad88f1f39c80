#include "libsvc/base/frames.h"

#include <cstdint>

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t frame_head = 5;
constexpr std::size_t most_frame_bytes = 1U << 20;  // who speaks may be a guest
constexpr std::string_view frame_kinds = "dewxf";

}  // namespace

std::string frame_text(Frame::Kind kind, std::string_view data) {
    const auto size = static_cast<std::uint32_t>(data.size());
    std::string text(1, static_cast<char>(kind));
    for (unsigned shift = 32; shift > 0; shift -= 8) text += static_cast<char>(size >> (shift - 8) & 0xff);
    return text.append(data);
}

std::optional<Frame> FrameReader::next() {
    if (waiting_.size() < frame_head) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 1; i < frame_head; ++i) size = size << 8 | static_cast<unsigned char>(waiting_[i]);
    if (frame_kinds.find(waiting_[0]) == std::string_view::npos || size > most_frame_bytes)
        throw Error(ErrorCode::invalid_argument, "the stream of a command is damaged");
    if (waiting_.size() < frame_head + size) return std::nullopt;
    Frame frame{static_cast<Frame::Kind>(waiting_[0]), waiting_.substr(frame_head, size)};
    waiting_.erase(0, frame_head + size);
    return frame;
}

}  // namespace svc
