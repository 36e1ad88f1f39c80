#pragma once
// Makes JPEG files for tests.
#include <cstdint>
#include <functional>
#include <string>

namespace svc::test {

struct JpegOptions {
    bool progressive = false;
    int colours = 3;  // 1: grey; 4: inks, inverted as Adobe's programs do
};
// `pixel` gives RGBA words (of grey: the lowest byte, of inks: four bytes).
std::string make_jpeg(unsigned width, unsigned height,
                      const std::function<std::uint32_t(unsigned x, unsigned y)>& pixel,
                      JpegOptions options = {});
std::string plain_jpeg(unsigned width, unsigned height, std::uint32_t colour, JpegOptions options = {});

// The place of a segment's marker (0xC0 for the frame's header), or npos.
std::size_t find_segment(const std::string& jpeg, unsigned char marker);
// The same file, which says another size. `marker` is that of the frame's header (0xC2: of a progressive
// one).
std::string with_size(std::string jpeg, unsigned width, unsigned height, unsigned char marker = 0xC0);

}  // namespace svc::test
