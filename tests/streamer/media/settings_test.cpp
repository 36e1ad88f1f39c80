#include <catch2/catch.hpp>

#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

ClientSettings read(std::string_view text) {
    const Json json = Json::parse(text);
    return ClientSettings::from_json(JsonFields(json));
}

TEST_CASE("settings of a client are read as it sends them") {
    const ClientSettings settings = read(
        R"({"type":"settings","api_version":2,"data_channels":["data","x-1"],"enable_speaker":false,
            "enable_microphone":true,"enable_video":true,"enable_camera":true,"device_type":"phone",
            "video":{"preferred_decoder_codecs":["H265","AV1","VP8","VP8","H264"]}})");
    CHECK_FALSE(settings.speaker);
    CHECK(settings.microphone);
    CHECK(settings.camera);
    CHECK(settings.data_channels == std::vector<std::string>{"data", "x-1"});
    CHECK(settings.preferred_codecs == std::vector{VideoCodec::av1, VideoCodec::vp8, VideoCodec::h264});
}

TEST_CASE("preferred codecs come first, in the client's order, and none is added") {
    const std::vector<VideoCodec> codecs{VideoCodec::h264, VideoCodec::vp8, VideoCodec::vp9};
    CHECK(preferred_first(codecs, {}) == codecs);
    CHECK(preferred_first(codecs, {VideoCodec::av1, VideoCodec::vp9, VideoCodec::vp8}) ==
          std::vector{VideoCodec::vp9, VideoCodec::vp8, VideoCodec::h264});
}

TEST_CASE("settings that are left out have their defaults") {
    const ClientSettings settings = read("{}");
    CHECK(settings.speaker);
    CHECK(settings.video);
    CHECK_FALSE(settings.microphone);
    CHECK_FALSE(settings.camera);
    CHECK(settings.preferred_codecs.empty());
}

TEST_CASE("channels with names that cannot be are refused") {
    CHECK_THROWS_WITH(read(R"({"data_channels":["a","b","c","d","e","f"]})"),
                      Catch::Contains("at most 5 channels"));
    CHECK_THROWS_WITH(read(R"({"data_channels":["../x"]})"), Catch::Contains("a name has"));
    CHECK_THROWS_WITH(read(R"({"data_channels":[""]})"), Catch::Contains("a name has"));
    CHECK_THROWS_WITH(read(R"({"data_channels":["control"]})"), Catch::Contains("reserved"));
    CHECK_THROWS_WITH(read(R"({"data_channels":["a","a"]})"), Catch::Contains("named twice"));
    CHECK_THROWS_AS(read(R"({"enable_video":"yes"})"), Error);
}

}  // namespace
}  // namespace svc::streamer
