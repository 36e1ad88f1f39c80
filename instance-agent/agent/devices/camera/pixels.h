#pragma once
// Rotates and scales pictures. Pure functions; a pixel is one 32-bit word.
#include "instance-agent/agent/devices/camera/picture.h"

namespace svc::agent {

enum class Rotation : std::uint8_t { none, right, half, left };  // clockwise: 0, 90, 180, 270 degrees

inline Resolution rotated(Resolution size, Rotation rotation) {
    return rotation == Rotation::right || rotation == Rotation::left ? size.turned() : size;
}

// `to` has as many pixels as `from` and does not overlap it.
void rotate_pixels(const std::uint32_t* from, Resolution size, Rotation rotation, std::uint32_t* to);

void fill_black(std::uint32_t* to, std::size_t pixels);

// The whole picture, scaled to fit into a frame of another size, centred on black.
Picture fit_picture(const Picture& picture, Resolution size);

}  // namespace svc::agent
