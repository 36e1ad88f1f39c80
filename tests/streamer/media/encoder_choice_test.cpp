// What encodes the display where the manifest wants a GPU, with encoders that stand for those of a GPU.
#include <catch2/catch.hpp>

#include "instance-agent/streamer/media/video/codecs.h"
#include "libsvc/base/error.h"
#include "tests/streamer/media/fake_encoder.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

void provide(FakeDevice va, FakeDevice nv) {
    start_media();
    if (!provide_fake_encoder("vah264enc", va) || !provide_fake_encoder("nvh264enc", nv))
        test::skip("this machine has encoders of a GPU of its own");
}

std::string found(VideoCodec codec, VideoEncoder wish) {
    const auto form = find_encoder(codec, wish);
    return form ? std::string(form->element) : "none";
}

TEST_CASE("an encoder of a GPU is taken as the manifest says, if its device fits") {
    const auto [va, nv, gpu] = GENERATE(table<FakeDevice, FakeDevice, std::string>(
        {{FakeDevice::fits, FakeDevice::fits, "vah264enc"},
         {FakeDevice::absent, FakeDevice::fits, "nvh264enc"},
         {FakeDevice::of_high_profile, FakeDevice::fits, "nvh264enc"},
         {FakeDevice::absent, FakeDevice::of_high_profile, "none"},
         {FakeDevice::absent, FakeDevice::absent, "none"}}));
    provide(va, nv);
    CHECK(found(VideoCodec::h264, VideoEncoder::gpu) == gpu);
    CHECK(found(VideoCodec::h264, VideoEncoder::gpu_preferred) == (gpu == "none" ? "x264enc" : gpu));
    CHECK(found(VideoCodec::h264, VideoEncoder::software) == "x264enc");
    CHECK(found(VideoCodec::vp8, VideoEncoder::gpu) == "none");
    CHECK(found(VideoCodec::vp8, VideoEncoder::gpu_preferred) == "vp8enc");
    CHECK(found(VideoCodec::vp9, VideoEncoder::gpu) == "none");
    CHECK(found(VideoCodec::av1, VideoEncoder::gpu) == "none");
}

TEST_CASE("what a GPU cannot encode is not offered where the manifest insists on it") {
    provide(FakeDevice::absent, FakeDevice::fits);
    CHECK(codecs_to_offer({VideoCodec::vp8}, VideoEncoder::gpu) == std::vector{VideoCodec::h264});
    CHECK(codecs_to_offer({VideoCodec::vp8}, VideoEncoder::gpu_preferred) ==
          std::vector{VideoCodec::vp8, VideoCodec::h264, VideoCodec::vp9});
    provide(FakeDevice::absent, FakeDevice::absent);
    CHECK_THROWS_WITH(encodable_codecs(VideoEncoder::gpu),
                      "there is no video encoder of a GPU, which the application needs");
}

TEST_CASE("a client sees what an encoder of a GPU makes, and the figures name it") {
    const auto name = GENERATE(as<std::string>(), "vah264enc", "nvh264enc");
    const auto device_of = [&](const char* one) {
        return name == one ? FakeDevice::fits : FakeDevice::absent;
    };
    provide(device_of("vah264enc"), device_of("nvh264enc"));
    MediaPair::Wish wish;
    wish.encoder = VideoEncoder::gpu;
    MediaPair pair(wish);
    pair.connect();
    REQUIRE(pair.log().wait_event("connected", patience));
    FrameWriter guest(pair.frame_path());
    guest.draw(320, 240, Colour{220, 20, 20});
    CHECK(pair.client().wait_picture(
        [](const ClientPicture& picture) { return picture.width == 320 && picture.at(160, 120)[0] > 150; },
        patience));
    pair.peer().set_bitrates({500, 500});
    const StreamStats stats = stats_of(pair.peer(), "video");
    CHECK(stats.encoder == name);
    CHECK(stats.gpu_encoder);
    CHECK(stats.frames_encoded > 0);
}

}  // namespace
}  // namespace svc::streamer
