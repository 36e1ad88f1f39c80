#include "instance-agent/agent/devices/camera/pixels.h"

#include <algorithm>
#include <cstring>

namespace svc::agent {
namespace {

constexpr std::uint32_t black = 0xFF000000;  // little endian: R in the lowest byte, A in the highest
// Pixels are rotated in square blocks with sides of this length: both the lines that are read and the columns
// that are written stay in the cache.
constexpr std::uint32_t block = 32;

using Pixels = const std::uint32_t*;

// Rotates one block: a column of `from` becomes a line of `to`.
void turn_block(Pixels from, Resolution size, Rotation rotation, std::uint32_t* to, std::uint32_t left,
                std::uint32_t top) {
    const std::uint32_t right = std::min(left + block, size.width);
    const std::uint32_t bottom = std::min(top + block, size.height);
    for (std::uint32_t x = left; x < right; ++x) {
        Pixels source = from + std::size_t{top} * size.width + x;
        const bool clockwise = rotation == Rotation::right;
        const std::size_t line = clockwise ? x : size.width - 1 - x;
        std::uint32_t* target = to + line * size.height + (clockwise ? size.height - 1 - top : top);
        for (std::uint32_t y = top; y < bottom; ++y, source += size.width) {
            *target = *source;
            target += clockwise ? -1 : 1;
        }
    }
}

// Interpolates each channel between two neighbours; `share` of the second in 1/65536.
std::uint32_t mix(std::uint32_t first, std::uint32_t second, std::uint32_t share) {
    std::uint32_t mixed = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        const std::uint32_t a = first >> shift & 0xFF, b = second >> shift & 0xFF;
        mixed |= ((a * (65536 - share) + b * share) >> 16 & 0xFF) << shift;
    }
    return mixed;
}

// The position of pixel `number` of `count` among `source` pixels, in 1/65536 of a pixel.
std::uint64_t place_of(std::uint32_t number, std::uint32_t count, std::uint32_t source) {
    const std::uint64_t middle = (std::uint64_t{number} * 2 + 1) * source * 32768 / count;
    return std::clamp<std::uint64_t>(middle, 32768, (std::uint64_t{source} << 16) - 32768) - 32768;
}

std::uint32_t sample(const Picture& picture, std::uint64_t x, std::uint64_t y) {
    const Resolution size = picture.size();
    const std::size_t left = x >> 16, top = y >> 16;
    const std::size_t right = std::min<std::size_t>(left + 1, size.width - 1);
    const std::size_t bottom = std::min<std::size_t>(top + 1, size.height - 1);
    Pixels upper = picture.pixels() + top * size.width;
    Pixels lower = picture.pixels() + bottom * size.width;
    const auto across = static_cast<std::uint32_t>(x & 0xFFFF), down = static_cast<std::uint32_t>(y & 0xFFFF);
    return mix(mix(upper[left], upper[right], across), mix(lower[left], lower[right], across), down);
}

// The largest size of the same shape that fits.
Resolution fitting(Resolution picture, Resolution frame) {
    const std::uint64_t by_width = std::uint64_t{picture.height} * frame.width;
    const std::uint64_t by_height = std::uint64_t{picture.width} * frame.height;
    if (by_width <= by_height) return {frame.width, static_cast<std::uint32_t>(by_width / picture.width)};
    return {static_cast<std::uint32_t>(by_height / picture.height), frame.height};
}

}  // namespace

void rotate_pixels(Pixels from, Resolution size, Rotation rotation, std::uint32_t* to) {
    if (rotation == Rotation::none) {
        std::memcpy(to, from, size.bytes());
    } else if (rotation == Rotation::half) {
        std::reverse_copy(from, from + size.pixels(), to);
    } else {
        for (std::uint32_t top = 0; top < size.height; top += block)
            for (std::uint32_t left = 0; left < size.width; left += block)
                turn_block(from, size, rotation, to, left, top);
    }
}

void fill_black(std::uint32_t* to, std::size_t pixels) {
    std::fill_n(to, pixels, black);
}

Picture fit_picture(const Picture& picture, Resolution size) {
    Picture frame(size);
    fill_black(frame.pixels(), size.pixels());
    const Resolution inner = fitting(picture.size(), size);
    const std::size_t left = (size.width - inner.width) / 2, top = (size.height - inner.height) / 2;
    for (std::uint32_t y = 0; y < inner.height; ++y) {
        std::uint32_t* line = frame.pixels() + (top + y) * size.width + left;
        const std::uint64_t down = place_of(y, inner.height, picture.size().height);
        for (std::uint32_t x = 0; x < inner.width; ++x)
            line[x] = sample(picture, place_of(x, inner.width, picture.size().width), down);
    }
    return frame;
}

}  // namespace svc::agent
