// Pictures from outside: decoded whole, or refused by name. Input with an odd first byte is a picture itself,
// which is given a size of the camera, so that the decoder is reached; else it tells how to damage a good
// one.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "instance-agent/agent/devices/camera/jpeg.h"
#include "libsvc/base/error.h"
#include "tests/agent/camera/jpeg_maker.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::jpeg_target {

namespace {

// Writes 640x480 into the first frame header there is.
void set_size(std::string& jpeg) {
    for (std::size_t at = 2; at + 8 < jpeg.size(); ++at) {
        const auto marker = static_cast<unsigned char>(jpeg[at + 1]);
        if (jpeg[at] != '\xFF' || marker < 0xC0 || marker > 0xC2) continue;
        jpeg.replace(at + 5, 4, std::string("\x01\xE0\x02\x80", 4));
        return;
    }
}

std::string good_picture(int colours, bool progressive) {
    return svc::test::make_jpeg(640, 480, [](unsigned x, unsigned y) { return x * y * 31; },
                                {progressive, colours});
}

// Groups of four bytes: a place (24 bits) and what is put there; a place beyond the end cuts the picture.
std::string damaged_picture(const std::uint8_t* data, std::size_t size) {
    static const std::array<std::string, 4> good{good_picture(3, false), good_picture(3, true),
                                                 good_picture(1, true), good_picture(4, false)};
    std::string jpeg = good[data[0] / 2 % good.size()];
    for (std::size_t at = 1; at + 4 <= size; at += 4) {
        const std::size_t place = std::size_t{data[at]} << 16 | data[at + 1] << 8 | data[at + 2];
        if (place < jpeg.size())
            jpeg[place] = static_cast<char>(data[at + 3]);
        else
            jpeg.resize(jpeg.size() - jpeg.size() * data[at + 3] / 1024);
    }
    return jpeg;
}

std::string picture_of(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return {};
    if (data[0] % 2 == 0) return damaged_picture(data, size);
    std::string jpeg(reinterpret_cast<const char*>(data) + 1, size - 1);
    set_size(jpeg);
    return jpeg;
}

}  // namespace

FUZZ_TARGET(jpeg)(const std::uint8_t* data, std::size_t size) {
    const std::string jpeg = picture_of(data, size);
    try {
        const svc::agent::Picture picture = svc::agent::decode_jpeg(jpeg);
        if (!svc::agent::is_camera_resolution(picture.size())) std::abort();
        for (std::size_t i = 0; i < picture.size().pixels(); ++i)
            if (picture.pixels()[i] >> 24 != 0xFF) std::abort();
    } catch (const svc::Error& e) {
        if (e.code() != svc::ErrorCode::invalid_argument) std::abort();
    }
    return 0;
}

}  // namespace svc::fuzz::jpeg_target
