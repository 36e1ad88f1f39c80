// metadata.yaml and configuration files.
#include <cstdint>

#include "libsvc/base/error.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/model/packages/image.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::yaml_target {

FUZZ_TARGET(yaml)(const std::uint8_t* data, std::size_t size) {
    try {
        svc::ImageMetadata::parse(svc::parse_yaml({reinterpret_cast<const char*>(data), size}));
    } catch (const svc::Error&) {
        return 0;
    }
    return 0;
}

}  // namespace svc::fuzz::yaml_target
