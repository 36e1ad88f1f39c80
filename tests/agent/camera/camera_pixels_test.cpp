#include "instance-agent/agent/devices/camera/pixels.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace svc::agent;

namespace {

Picture numbered(Resolution size) {
    Picture picture(size);
    for (std::size_t i = 0; i < size.pixels(); ++i) picture.pixels()[i] = static_cast<std::uint32_t>(i);
    return picture;
}

}  // namespace

TEST_CASE("a turned picture has each pixel in its place") {
    const Resolution size =
        GENERATE(Resolution{3, 2}, Resolution{70, 33}, Resolution{32, 64}, Resolution{1, 9});
    const Picture picture = numbered(size);
    std::vector<std::uint32_t> right(size.pixels()), half(size.pixels()), left(size.pixels());
    rotate_pixels(picture.pixels(), size, Rotation::right, right.data());
    rotate_pixels(picture.pixels(), size, Rotation::half, half.data());
    rotate_pixels(picture.pixels(), size, Rotation::left, left.data());
    bool good = true;
    for (std::uint32_t y = 0; y < size.height; ++y) {
        for (std::uint32_t x = 0; x < size.width; ++x) {
            const std::uint32_t pixel = picture.pixels()[y * size.width + x];
            good = good && right[x * size.height + size.height - 1 - y] == pixel;
            good = good && half[size.pixels() - 1 - (y * size.width + x)] == pixel;
            good = good && left[(size.width - 1 - x) * size.height + y] == pixel;
        }
    }
    CHECK(good);
}

TEST_CASE("a picture of another shape keeps its own, with black around it") {
    Picture wide({1280, 720});
    std::fill_n(wide.pixels(), wide.size().pixels(), 0xFF0000FF);
    const Picture shown = fit_picture(wide, {640, 480});
    const auto at = [&](std::uint32_t x, std::uint32_t y) { return shown.pixels()[y * 640 + x]; };
    CHECK(at(320, 59) == 0xFF000000);
    CHECK(at(0, 60) == 0xFF0000FF);
    CHECK(at(639, 419) == 0xFF0000FF);
    CHECK(at(320, 420) == 0xFF000000);
}

TEST_CASE("a picture that is made larger changes evenly") {
    Picture small({2, 1});
    small.pixels()[0] = 0xFF000000;
    small.pixels()[1] = 0xFF0000FF;
    const Picture large = fit_picture(small, {64, 32});
    for (std::uint32_t x = 1; x < 64; ++x) CHECK(large.pixels()[x] >= large.pixels()[x - 1]);
    CHECK(large.pixels()[0] == 0xFF000000);
    CHECK(large.pixels()[63] == 0xFF0000FF);
}
