// Pictures from outside: decoded whole, or refused by name. Small ones are given a size of the camera, so
// that the decoder is reached.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "instance-agent/devices/camera/jpeg.h"
#include "libsvc/base/error.h"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string jpeg(reinterpret_cast<const char*>(data), size);
    set_size(jpeg);
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
