#pragma once
// Assembles frames from the bytes of one writer of the frame socket.
#include <array>
#include <cstddef>
#include <memory>

#include "instance-agent/streamer/guest_display/raw_frame.h"

namespace svc::streamer {

// One thread.
class FrameReader {
  public:
    enum class Result { nothing, frame, closed };  // closed: the writer has closed, or sent no valid frame
    // Reads without waiting, at most to the end of one frame.
    Result read_from(int fd);
    std::shared_ptr<const RawFrame> take();  // after Result::frame

  private:
    static constexpr std::size_t header_size = 16;
    bool start_frame();  // false: the header is invalid

    std::array<std::uint8_t, header_size> header_{};
    std::shared_ptr<RawFrame> frame_;
    std::shared_ptr<std::uint8_t[]> pixels_;  // of `frame_`, while they come
    std::size_t have_ = 0;                    // bytes of the header, then of the pixels
};

}  // namespace svc::streamer
