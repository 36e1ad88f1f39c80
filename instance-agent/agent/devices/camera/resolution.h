#pragma once
// Sizes of pictures, and the sizes that the camera has.
#include <array>
#include <cstddef>
#include <cstdint>

namespace svc::agent {

inline constexpr std::size_t pixel_bytes = 4;  // R, G, B, A

struct Resolution {
    std::uint32_t width = 0, height = 0;  // pixels

    bool operator==(const Resolution&) const = default;
    std::size_t pixels() const { return std::size_t{width} * height; }
    std::size_t bytes() const { return pixels() * pixel_bytes; }
    Resolution turned() const { return {height, width}; }
};

// The video stream has the first size while no guest has the camera open.
inline constexpr std::array<Resolution, 3> camera_resolutions{{{1280, 720}, {1920, 1080}, {640, 480}}};

inline bool is_camera_resolution(Resolution size) {
    for (const Resolution& known : camera_resolutions)
        if (known == size) return true;
    return false;
}

}  // namespace svc::agent
