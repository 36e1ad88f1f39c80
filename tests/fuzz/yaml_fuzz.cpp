// metadata.yaml and configuration files.
#include <cstdint>

#include "libsvc/base/error.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/model/packages/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        svc::ImageMetadata::parse(svc::parse_yaml({reinterpret_cast<const char*>(data), size}));
    } catch (const svc::Error&) {
        return 0;
    }
    return 0;
}
