// Bodies and headers of the API: launch, exec, report, image requests. The first byte chooses.
#include <array>
#include <cstdint>

#include "libsvc/model/instances/instance.h"
#include "libsvc/model/packages/image.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::bodies_target {

namespace {

using namespace svc;

const std::array<fuzz::Decoder, 6> decoders = {
    [](std::string_view text) { InstanceCreate::from_json(Json::parse(text)); },
    [](std::string_view text) { InstanceReport::from_json(Json::parse(text)); },
    [](std::string_view text) { ExecRequest::from_json(Json::parse(text)); },
    [](std::string_view text) { ImagePatch::from_json(Json::parse(text)); },
    [](std::string_view text) { AgentSession::from_json(Json::parse(text)); },
    [](std::string_view text) { ImageRequest::parse(text); },
};

}  // namespace

FUZZ_TARGET(bodies)(const std::uint8_t* data, std::size_t size) {
    return svc::fuzz::decode_with_one_of(decoders, data, size);
}

}  // namespace svc::fuzz::bodies_target
