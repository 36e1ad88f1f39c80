#include "tests/agent/camera/jpeg_maker.h"

// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace svc::test {
namespace {

J_COLOR_SPACE space_of(int colours) {
    if (colours == 1) return JCS_GRAYSCALE;
    return colours == 4 ? JCS_CMYK : JCS_RGB;
}

}  // namespace

std::string make_jpeg(unsigned width, unsigned height,
                      const std::function<std::uint32_t(unsigned x, unsigned y)>& pixel,
                      JpegOptions options) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* data = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &data, &size);
    info.image_width = width;
    info.image_height = height;
    info.input_components = options.colours;
    info.in_color_space = space_of(options.colours);
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 95, TRUE);
    if (options.progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    std::vector<unsigned char> line(std::size_t{width} * static_cast<unsigned>(options.colours));
    for (unsigned y = 0; y < height; ++y) {
        auto out = line.begin();
        for (unsigned x = 0; x < width; ++x) {
            const std::uint32_t value = pixel(x, y);
            for (int c = 0; c < options.colours; ++c) *out++ = static_cast<unsigned char>(value >> 8 * c);
        }
        JSAMPROW row = line.data();
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    std::string jpeg(reinterpret_cast<char*>(data), size);
    jpeg_destroy_compress(&info);
    std::free(data);
    return jpeg;
}

std::string plain_jpeg(unsigned width, unsigned height, std::uint32_t colour, JpegOptions options) {
    return make_jpeg(
        width, height, [colour](unsigned, unsigned) { return colour; }, options);
}

std::size_t find_segment(const std::string& jpeg, unsigned char marker) {
    std::size_t at = 2;
    while (at + 4 <= jpeg.size() && static_cast<unsigned char>(jpeg[at]) == 0xFF) {
        const auto kind = static_cast<unsigned char>(jpeg[at + 1]);
        if (kind == marker) return at;
        at += 2 + (static_cast<unsigned char>(jpeg[at + 2]) << 8 | static_cast<unsigned char>(jpeg[at + 3]));
        if (kind == 0xDA) break;
    }
    return std::string::npos;
}

std::string with_size(std::string jpeg, unsigned width, unsigned height, unsigned char marker) {
    const std::size_t at = find_segment(jpeg, marker);
    if (at == std::string::npos) throw std::invalid_argument("the picture has no such frame");
    jpeg[at + 5] = static_cast<char>(height >> 8);
    jpeg[at + 6] = static_cast<char>(height);
    jpeg[at + 7] = static_cast<char>(width >> 8);
    jpeg[at + 8] = static_cast<char>(width);
    return jpeg;
}

}  // namespace svc::test
