// A peer and a client over loopback: pictures, sound, channels, camera.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "instance-agent/streamer/media/peer/data_channels.h"
#include "libsvc/base/error.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
constexpr Colour red{220, 20, 20}, green{20, 200, 20}, blue{20, 20, 220};

bool is_near(Colour a, Colour b) {
    for (std::size_t i = 0; i < 3; ++i)
        if (std::abs(a[i] - b[i]) > 40) return false;
    return true;
}

MediaPair::Wish with_codec(VideoCodec codec) {
    MediaPair::Wish wish;
    wish.settings.preferred_codecs = {codec};
    return wish;
}

void check_colours(VideoCodec codec) {
    MediaPair pair(with_codec(codec));
    pair.connect();
    REQUIRE(pair.log().wait_event("connected", patience));
    FrameWriter guest(pair.frame_path());
    for (const auto& [around, square] : {std::pair{red, blue}, std::pair{green, red}}) {
        guest.draw(320, 240, around, square);
        CHECK(pair.client().wait_picture(
            [&, wanted_around = around, wanted_square = square](const ClientPicture& picture) {
                return picture.width == 320 && picture.height == 240 &&
                       is_near(picture.at(10, 10), wanted_around) &&
                       is_near(picture.at(160, 120), wanted_square);
            },
            patience));
    }
    CHECK(pair.client().first_frame());
}

TEST_CASE("colours that the guest draws arrive by H.264") {
    check_colours(VideoCodec::h264);
}
TEST_CASE("colours that the guest draws arrive by VP8") {
    check_colours(VideoCodec::vp8);
}
TEST_CASE("colours that the guest draws arrive by VP9") {
    check_colours(VideoCodec::vp9);
}

TEST_CASE("display is sent in the codec that the client knows") {
    MediaPair::Wish wish;
    SECTION("VP8, though H.264 was offered first") {
        wish.client.codecs = {"VP8"};
    }
    SECTION("VP9, though H.264 was offered first") {
        wish.client.codecs = {"VP9"};
    }
    SECTION("H.264 in another level, though VP8 was offered first") {
        wish.settings.preferred_codecs = {VideoCodec::vp8};
        wish.client.codecs = {"H264"};
        wish.change_answer = [](std::string sdp) {
            return sdp.insert(sdp.find("packetization-mode=1"), "profile-level-id=42e034;");
        };
    }
    MediaPair pair(wish);
    pair.connect();
    REQUIRE(pair.log().wait_event("connected", patience));
    FrameWriter guest(pair.frame_path());
    guest.draw(320, 240, green);
    CHECK(pair.client().wait_picture(
        [](const ClientPicture& picture) { return is_near(picture.at(160, 120), green); }, patience));
}

TEST_CASE("guest that draws in another size is scaled to the session's") {
    MediaPair pair({});
    pair.connect();
    FrameWriter guest(pair.frame_path());
    guest.draw(160, 120, green);
    CHECK(pair.client().wait_picture(
        [](const ClientPicture& picture) {
            return picture.width == 320 && is_near(picture.at(160, 120), green);
        },
        patience));
}

TEST_CASE("picture comes though the guest has drawn nothing yet, and sound with it") {
    MediaPair pair({});
    pair.connect();
    CHECK(pair.client().wait_frames(2, patience));
    CHECK(test::eventually([&] { return pair.client().sound_packets() > 3; }, patience));
}

TEST_CASE("key frame is sent when the client or the program asks for one") {
    MediaPair pair({});
    pair.connect();
    REQUIRE(pair.client().wait_frames(3, patience));
    const auto before = stats_of(pair.peer(), "video").key_frames_encoded;
    CHECK(before >= 1);
    pair.peer().request_key_frame();
    CHECK(test::eventually([&] { return stats_of(pair.peer(), "video").key_frames_encoded > before; },
                           patience));
    const auto after = stats_of(pair.peer(), "video").key_frames_encoded;
    CHECK(test::eventually(
        [&] {
            pair.client()
                .request_key_frame();  // one report in several seconds may carry it: players repeat it
            return stats_of(pair.peer(), "video").key_frames_encoded > after;
        },
        patience));
    CHECK(test::eventually([&] { return stats_of(pair.peer(), "video").pli_count > 0; }, patience));
}

TEST_CASE("figures of a stream are those of what was sent") {
    MediaPair pair({});
    pair.connect();
    FrameWriter guest(pair.frame_path());
    guest.draw(320, 240, red, green);
    REQUIRE(pair.client().wait_frames(5, patience));
    REQUIRE(test::eventually([&] { return pair.client().sound_packets() > 3; }, patience));
    const StreamStats video = stats_of(pair.peer(), "video"), audio = stats_of(pair.peer(), "audio");
    CHECK(video.frames_encoded >= 3);
    CHECK(video.key_frames_encoded >= 1);
    CHECK(video.key_frames_encoded <= video.frames_encoded);
    CHECK(video.total_encode_time > 0);
    CHECK(video.packets_sent >= video.frames_encoded - 1);
    CHECK(video.bytes_sent > video.packets_sent);
    CHECK(video.total_packet_send_delay > 0);
    CHECK(video.target_bitrate >= 1'000'000);
    CHECK(video.target_bitrate <= 3'000'000);
    CHECK(pair.offer().find("a=ssrc:" + std::to_string(video.ssrc)) != std::string::npos);
    CHECK(audio.packets_sent > 3);
    CHECK(audio.bytes_sent > 0);
    CHECK(pair.offer().find("a=ssrc:" + std::to_string(audio.ssrc)) != std::string::npos);
    CHECK_FALSE(pair.peer().stats().relay_in_use);
}

TEST_CASE("messages go both ways on the client's channels, big ones too") {
    MediaPair::Wish wish;
    wish.settings.data_channels = {"data"};
    wish.client.channels = {"control", "data"};
    MediaPair pair(wish);
    pair.connect();
    REQUIRE(pair.log().wait_event("open control", patience));
    REQUIRE(pair.log().wait_event("open data", patience));
    REQUIRE(pair.client().wait_channel("control", patience));
    REQUIRE(pair.client().wait_channel("data", patience));
    const std::string big(60'000, 'x');
    REQUIRE(pair.client().send("control", false, "{\"type\":\"a\"}"));
    const auto text = pair.log().next_message(patience);
    REQUIRE(pair.client().send("data", true, big));
    const auto bytes = pair.log().next_message(patience);
    REQUIRE(text);
    CHECK((text->channel == "control" && !text->binary && text->data == "{\"type\":\"a\"}"));
    REQUIRE(bytes);
    CHECK((bytes->channel == "data" && bytes->binary && bytes->data == big));
    REQUIRE(pair.peer().send("data", true, big));
    const auto echoed = pair.client().next_message(patience);
    REQUIRE(echoed);
    CHECK(echoed->data == big);
    REQUIRE(pair.peer().send("control", false, "done"));
    const auto done = pair.client().next_message(patience);
    REQUIRE(done);
    CHECK(done->data == "done");
    CHECK_FALSE(pair.peer().send("other", false, "x"));
    CHECK_FALSE(pair.peer().send("control", false, "\xff\xfe"));
}

TEST_CASE("channel that nobody announced is not listened to, one that closes is told") {
    MediaPair::Wish wish;
    wish.settings.data_channels = {"data"};
    wish.client.channels = {"secret", "control", "data"};
    MediaPair pair(wish);
    pair.connect();
    REQUIRE(pair.client().wait_channel("data", patience));
    REQUIRE(pair.log().wait_event("open data", patience));
    pair.client().send("secret", false, "x");
    pair.client().close_channel("data");
    CHECK(pair.log().wait_event("closed data", patience));
    CHECK_FALSE(pair.peer().send("data", false, "x"));
    for (const std::string& event : pair.log().events()) CHECK(event != "open secret");
}

TEST_CASE("client that opens ever more channels is given up") {
    MediaPair::Wish wish;
    for (int i = 0; i < DataChannels::most_channels + 8; ++i)
        wish.client.channels.push_back("channel" + std::to_string(i));
    MediaPair pair(wish);
    pair.connect();
    CHECK(pair.log().wait_event("failed: too many data channels", patience));
}

TEST_CASE("camera of the client arrives in the wished size until nobody wants it") {
    MediaPair::Wish wish;
    wish.settings.camera = wish.settings.microphone = true;
    wish.client.camera = red;
    wish.client.microphone = true;
    MediaPair pair(wish);
    pair.connect();
    REQUIRE(pair.log().wait_event("connected", patience));
    std::mutex mutex;
    std::vector<std::uint8_t> frame;
    std::size_t frames = 0;
    pair.peer().set_camera_sink(160, 120, 15, [&](const std::uint8_t* pixels, std::size_t size) {
        std::lock_guard lock(mutex);
        frame.assign(pixels, pixels + size);
        ++frames;
    });
    const auto count = [&] {
        std::lock_guard lock(mutex);
        return frames;
    };
    REQUIRE(test::eventually([&] { return count() >= 3; }, patience));
    pair.peer().set_camera_sink(160, 120, 15, {});
    const std::size_t at_end = count();
    REQUIRE(frame.size() == 160 * 120 * 4);
    const std::size_t middle = (60 * 160 + 80) * 4;
    CHECK(is_near({frame[middle], frame[middle + 1], frame[middle + 2]}, red));
    const auto sent = pair.client().frames();
    REQUIRE(pair.client().wait_frames(sent + 3, patience));
    CHECK(count() == at_end);
}

TEST_CASE("bitrate follows the limits that are set") {
    MediaPair pair({});
    CHECK(stats_of(pair.peer(), "video").target_bitrate == 2'000'000);
    pair.peer().set_bitrates({400, 600});
    CHECK(stats_of(pair.peer(), "video").target_bitrate == 600'000);
}

TEST_CASE("client that leaves is noticed at once, and has not failed") {
    MediaPair pair({});
    pair.connect();
    REQUIRE(pair.client().wait_frames(1, patience));
    REQUIRE(pair.log().wait_event("open control", patience));
    pair.client().leave();
    CHECK(pair.log().wait_event("left", patience));
    for (const std::string& event : pair.log().events()) CHECK_FALSE(event.starts_with("failed"));
}

TEST_CASE("client that goes is noticed") {
    MediaPair pair({});
    pair.connect();
    REQUIRE(pair.client().wait_frames(1, patience));
    pair.end_client();
    CHECK(test::eventually(
        [&] {
            for (const std::string& event : pair.log().events())
                if (event == "left" || event.rfind("failed: ", 0) == 0) return true;
            return false;
        },
        patience));
}

}  // namespace
}  // namespace svc::streamer
