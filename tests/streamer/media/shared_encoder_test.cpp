// Several clients of one display: it is encoded once for those of one codec, and none of them holds up
// another.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "instance-agent/streamer/media/video/frame_gate.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
constexpr Colour red{220, 20, 20}, green{20, 200, 20};

bool shows(const ClientPicture& picture, Colour colour) {
    const Colour seen = picture.at(picture.width / 2, picture.height / 2);
    for (std::size_t i = 0; i < 3; ++i)
        if (std::abs(seen[i] - colour[i]) > 40) return false;
    return true;
}

bool awaits(MediaPair& pair, Colour colour) {
    return pair.client().wait_picture([&](const ClientPicture& picture) { return shows(picture, colour); },
                                      patience);
}

MediaPair::Wish beside(const MediaPair& first, const MediaPair::Wish& wish) {
    MediaPair::Wish watching = wish;
    watching.frame_path = first.frame_path();
    watching.watches = true;
    return watching;
}

TEST_CASE("clients of one codec share an encoder, and one that comes later sees the picture at once") {
    MediaPair::Wish wish;
    wish.settings.preferred_codecs = {GENERATE(VideoCodec::h264, VideoCodec::vp8, VideoCodec::vp9)};
    MediaPair first(wish);
    first.connect();
    FrameWriter guest(first.frame_path());
    guest.draw(320, 240, red);
    REQUIRE(awaits(first, red));
    MediaPair second(beside(first, wish));
    second.connect();
    CHECK(awaits(second, red));
    guest.draw(320, 240, green);
    CHECK(awaits(first, green));
    CHECK(awaits(second, green));
    const auto frames = [](MediaPair& pair) { return stats_of(pair.peer(), "video").frames_encoded; };
    const auto before = frames(first);
    CHECK(frames(second) >= before);
    CHECK(stats_of(first.peer(), "video").ssrc != stats_of(second.peer(), "video").ssrc);
    SECTION("the first one leaves") {
        first.end_peer();
        guest.draw(320, 240, red);
        CHECK(awaits(second, red));
    }
    SECTION("the second one leaves") {
        second.end_peer();
        guest.draw(320, 240, red);
        CHECK(awaits(first, red));
    }
}

TEST_CASE("clients that agreed on different codecs have an encoder each") {
    MediaPair::Wish wish, other;
    wish.settings.preferred_codecs = {VideoCodec::h264};
    other.settings.preferred_codecs = {VideoCodec::vp8};
    other.encoders = wish.encoders;
    MediaPair first(wish);
    first.connect();
    FrameWriter guest(first.frame_path());
    guest.draw(320, 240, red);
    REQUIRE(awaits(first, red));
    MediaPair second(beside(first, other));
    second.connect();
    CHECK(awaits(second, red));
    CHECK(stats_of(first.peer(), "video").encoder == "x264enc");
    CHECK(stats_of(second.peer(), "video").encoder == "vp8enc");
}

TEST_CASE("the bit rate of a shared encoder is that of the client that steers") {
    MediaPair::Wish wish;
    wish.settings.preferred_codecs = {VideoCodec::h264};
    wish.bitrates = {1000, 1000};
    MediaPair first(wish);
    first.connect();
    REQUIRE(first.log().wait_event("connected", patience));
    MediaPair::Wish watching = beside(first, wish);
    watching.bitrates = {500, 500};
    MediaPair second(watching);
    second.connect();
    REQUIRE(second.log().wait_event("connected", patience));
    DisplayEncoders::Wish shared{{}, {wish.width, wish.height, wish.fps}, VideoCodec::h264, wish.encoder, 1};
    shared.places.frame_socket = first.frame_path();
    const auto encoder = wish.encoders->get(shared);
    CHECK(encoder->kbps() == 1000);
    second.peer().set_bitrates({400, 400});
    CHECK(encoder->kbps() == 1000);
    first.peer().set_watching(true);
    second.peer().set_watching(false);
    CHECK(encoder->kbps() == 400);
    first.peer().set_bitrates({900, 900});
    CHECK(encoder->kbps() == 400);
}

TEST_CASE("a stream goes on in another size") {
    MediaPair pair({});
    pair.connect();
    {
        FrameWriter guest(pair.frame_path());
        guest.draw(320, 240, red);
        REQUIRE(awaits(pair, red));
        pair.peer().hide_screen();
    }
    pair.peer().show_screen(640, 480);
    const auto received = pair.client().frames();
    FrameWriter guest(pair.frame_path());
    guest.draw(640, 480, green);
    int width = 0;
    const bool came = pair.client().wait_picture(
        [&](const ClientPicture& picture) {
            width = picture.width;
            return width == 640 && shows(picture, green);
        },
        patience);
    CAPTURE(width, received, pair.client().frames(), stats_of(pair.peer(), "video").frames_encoded,
            stats_of(pair.peer(), "video").pli_count, pair.log().events());
    CHECK(came);
}

TEST_CASE("a client that is behind gets nothing until a key frame, which it wants after a rest") {
    FrameGate gate;
    FrameGate::Moment now{};
    CHECK_FALSE(gate.let_through(false));
    CHECK(gate.wants_key_frame(now));
    CHECK_FALSE(gate.wants_key_frame(now + 1s));
    CHECK(gate.let_through(true));
    CHECK(gate.let_through(false));
    CHECK_FALSE(gate.wants_key_frame(now + 1h));
    now += 10s;
    gate.skip(now);
    CHECK_FALSE(gate.let_through(false));
    CHECK_FALSE(gate.wants_key_frame(now + FrameGate::rest - 1ms));
    CHECK(gate.wants_key_frame(now + FrameGate::rest));
    CHECK_FALSE(gate.wants_key_frame(now + FrameGate::rest + 1ms));
    CHECK(gate.let_through(true));
}

}  // namespace
}  // namespace svc::streamer
