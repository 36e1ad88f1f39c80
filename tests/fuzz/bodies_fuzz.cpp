// Bodies and headers of the API: launch, exec, report, image requests. The first byte chooses.
#include <array>
#include <cstdint>
#include <functional>

#include "libsvc/base/error.h"
#include "libsvc/model/image.h"
#include "libsvc/model/instance.h"

namespace {

using namespace svc;

const std::array<std::function<void(std::string_view)>, 6> decoders = {
    [](std::string_view text) { InstanceCreate::from_json(Json::parse(text)); },
    [](std::string_view text) { InstanceReport::from_json(Json::parse(text)); },
    [](std::string_view text) { ExecRequest::from_json(Json::parse(text)); },
    [](std::string_view text) { ImagePatch::from_json(Json::parse(text)); },
    [](std::string_view text) { AgentSession::from_json(Json::parse(text)); },
    [](std::string_view text) { ImageRequest::parse(text); },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        decoders[data[0] % decoders.size()]({reinterpret_cast<const char*>(data) + 1, size - 1});
    } catch (const svc::Error&) {
        return 0;
    }
    return 0;
}
