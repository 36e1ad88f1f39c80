// Screens on which nothing moves: they cost next to nothing, and yet show at once what there is.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "instance-agent/streamer/display/screen.h"
#include "instance-agent/streamer/display/screen_watch.h"
#include "tests/streamer/display/x_painter.h"
#include "tests/streamer/display/x_server.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr Colour blue{20, 20, 220}, red{220, 20, 20};

std::uint64_t encoded(MediaPair& pair) {
    return stats_of(pair.peer(), "video").frames_encoded;
}

// Not more than four frames in two seconds: thirty a second would be sixty.
bool comes_to_rest(MediaPair& pair) {
    return test::eventually(
        [&] {
            const std::uint64_t before = encoded(pair);
            return !test::eventually([&] { return encoded(pair) > before + 4; }, 2s);
        },
        patience);
}

bool shows(MediaPair& pair, Colour colour) {
    return pair.client().wait_picture(
        [&](const ClientPicture& picture) {
            const Colour seen = picture.at(40, 40);
            for (std::size_t i = 0; i < 3; ++i)
                if (std::abs(seen[i] - colour[i]) > 40) return false;
            return true;
        },
        patience);
}

struct Screen {
    test::XServer server{320, 240};
    test::XPainter painter{server.display(), 320, 240};
    MediaPair::Wish wish() const {
        MediaPair::Wish wish;
        wish.display = server.display();
        return wish;
    }
};

void rests_but_shows_changes(MediaPair::Wish wish, test::XPainter& painter) {
    painter.fill(blue);
    MediaPair pair(std::move(wish));
    pair.connect();
    CHECK(shows(pair, blue));
    REQUIRE(comes_to_rest(pair));
    const std::uint64_t still = encoded(pair);
    CHECK(test::eventually([&] { return encoded(pair) > still; }, patience));  // it is seen to live
    painter.fill(red);
    CHECK(shows(pair, red));
    CHECK(comes_to_rest(pair));
}

TEST_CASE("still X screen is hardly encoded, its changes are, by H.264") {
    Screen screen;
    MediaPair::Wish wish = screen.wish();
    wish.settings.preferred_codecs = {VideoCodec::h264};
    rests_but_shows_changes(std::move(wish), screen.painter);
}

TEST_CASE("still X screen is hardly encoded, its changes are, by VP8") {
    Screen screen;
    MediaPair::Wish wish = screen.wish();
    wish.settings.preferred_codecs = {VideoCodec::vp8};
    rests_but_shows_changes(std::move(wish), screen.painter);
}

TEST_CASE("still X screen is hardly encoded, its changes are, by VP9") {
    Screen screen;
    MediaPair::Wish wish = screen.wish();
    wish.settings.preferred_codecs = {VideoCodec::vp9};
    rests_but_shows_changes(std::move(wish), screen.painter);
}

// The client's picture follows a screen that becomes smaller and larger, on the same connection.
void follows_the_size(VideoCodec codec) {
    test::XServer server{640, 480};
    test::XPainter painter{server.display(), 640, 480};
    const auto screen = make_x_screen(server.display());
    screen->resize({640, 480});
    painter.fill(blue);
    MediaPair::Wish wish;
    wish.display = server.display();
    wish.width = 640;
    wish.height = 480;
    wish.settings.preferred_codecs = {codec};
    MediaPair pair(std::move(wish));
    pair.connect();
    REQUIRE(pair.log().wait_event("open control", patience));
    CHECK(shows(pair, blue));
    const auto follows = [&](ScreenSize size, Colour colour) {
        pair.peer().hide_screen();
        REQUIRE(screen->resize(size) == size);
        painter.fill(colour);
        pair.peer().show_screen(size.width, size.height);
        const auto has_size = [&](const ClientPicture& picture) {
            return picture.width == size.width && picture.height == size.height;
        };
        CHECK(pair.client().wait_picture(has_size, patience));
        CHECK(shows(pair, colour));
    };
    follows({320, 400}, red);
    follows({640, 480}, blue);
    follows({500, 300}, red);
    CHECK(pair.log().events() == std::vector<std::string>{"connected", "open control"});
}

TEST_CASE("display follows the size of an X screen by H.264") {
    follows_the_size(VideoCodec::h264);
}
TEST_CASE("display follows the size of an X screen by VP8") {
    follows_the_size(VideoCodec::vp8);
}
TEST_CASE("display follows the size of an X screen by VP9") {
    follows_the_size(VideoCodec::vp9);
}

TEST_CASE("display goes on when the screen has kept its size") {
    Screen screen;
    screen.painter.fill(blue);
    MediaPair pair(screen.wish());
    pair.connect();
    CHECK(shows(pair, blue));
    pair.peer().hide_screen();
    pair.peer().show_screen(320, 240);
    screen.painter.fill(red);
    CHECK(shows(pair, red));
}

TEST_CASE("screen that always changes is encoded at the session's rate") {
    Screen screen;
    MediaPair pair(screen.wish());
    pair.connect();
    REQUIRE(pair.client().wait_frames(1, patience));
    const auto begin = Clock::now();
    const std::uint64_t before = encoded(pair);
    std::uint8_t shade = 0;
    CHECK(test::eventually(
        [&] {
            return screen.painter.fill({++shade, 0, 0}), encoded(pair) >= before + 60;
        },
        patience));
    CHECK(Clock::now() - begin > 1800ms);
}

TEST_CASE("key frame of a still screen is sent when somebody asks for it") {
    Screen screen;
    screen.painter.fill(blue);
    MediaPair pair(screen.wish());
    pair.connect();
    CHECK(shows(pair, blue));
    REQUIRE(comes_to_rest(pair));
    const auto before = stats_of(pair.peer(), "video").key_frames_encoded;
    pair.peer().request_key_frame();
    CHECK(test::eventually([&] { return stats_of(pair.peer(), "video").key_frames_encoded > before; },
                           patience));
    CHECK(comes_to_rest(pair));
}

TEST_CASE("guest that stops drawing costs nothing, and who joins sees its last frame") {
    MediaPair pair({});
    pair.connect();
    REQUIRE(pair.log().wait_event("connected", patience));
    FrameWriter guest(pair.frame_path());
    guest.draw(320, 240, red);
    CHECK(shows(pair, red));
    CHECK(comes_to_rest(pair));
    guest.draw(320, 240, blue);
    CHECK(shows(pair, blue));
    CHECK(comes_to_rest(pair));
}

TEST_CASE("guest that plays nothing sends some packets of sound a second, not fifty") {
    MediaPair pair({});
    pair.connect();
    REQUIRE(test::eventually([&] { return pair.client().sound_packets() > 3; }, patience));
    std::uint64_t before = 0;
    CHECK(test::eventually(
        [&] {
            before = pair.client().sound_packets();
            return !test::eventually([&] { return pair.client().sound_packets() > before + 25; }, 2s);
        },
        patience));
    CHECK(test::eventually([&] { return pair.client().sound_packets() > before; }, patience));
}

// The watch asks the X server, so it has reported everything that was drawn before this call.
bool rests(ScreenWatch& watch) {
    return test::eventually([&] { return !watch.take_change(); }, patience);
}

TEST_CASE("watch tells of drawing and of the pointer, once each") {
    Screen screen;
    ScreenWatch watch(screen.server.display(), 10ms);
    CHECK(watch.take_change());
    REQUIRE(rests(watch));
    screen.painter.fill(blue, 5, 5, 1, 1);
    CHECK(watch.take_change());
    CHECK_FALSE(watch.take_change());
    screen.painter.warp_pointer(7, 9);
    CHECK(watch.take_change());
    CHECK_FALSE(watch.take_change());
}

TEST_CASE("watch waits until something happens, somebody wakes it, or the time is over") {
    Screen screen;
    ScreenWatch watch(screen.server.display(), 10ms);
    REQUIRE((watch.take_change(), rests(watch)));
    const auto begin = Clock::now();
    watch.wait(50ms);
    CHECK(Clock::now() - begin >= 50ms);
    watch.wake();
    watch.wait(1h);
    screen.painter.warp_pointer(3, 4);
    watch.wait(1h);
    CHECK(watch.take_change());
    screen.painter.fill(red, 1, 1, 2, 2);
    watch.wait(1h);
    CHECK(watch.take_change());
}

}  // namespace
}  // namespace svc::streamer
