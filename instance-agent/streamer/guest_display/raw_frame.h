#pragma once
// A picture of a guest without X, as its pixels came.
#include <cstdint>
#include <memory>

namespace svc::streamer {

constexpr std::uint32_t most_frame_side = 4096;

// 32 bits a pixel, named in the order of their bytes. Alpha and x are not looked at.
enum class PixelFormat { rgba, rgbx, bgra, bgrx };

struct RawFrame {
    std::uint32_t width = 0, height = 0, stride = 0;  // pixels; bytes from row to row
    PixelFormat format = PixelFormat::rgba;
    // stride * height bytes. They may be shared with a program of the guest, which may change them at any
    // time; it gets its buffer back when the last frame with these pixels is gone.
    std::shared_ptr<const std::uint8_t[]> pixels{};
};

}  // namespace svc::streamer
