// The picture of an X display, of an Xvfb of the test's own.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/streamer/display/x_server.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

TEST_CASE("picture of an X display arrives") {
    const test::XServer display;
    MediaPair::Wish wish;
    wish.display = display.display();
    MediaPair pair(wish);
    pair.connect();
    CHECK(pair.client().wait_frames(10, patience));
    CHECK(pair.client().wait_picture([](const ClientPicture& picture) { return picture.width == 320; },
                                     patience));
    CHECK(stats_of(pair.peer(), "video").frames_encoded >= 5);
}

TEST_CASE("display that is not there is told in words") {
    MediaPair::Wish wish;
    wish.display = ":4711";
    MediaPair pair(wish);
    try {
        pair.connect();
        CHECK(test::eventually([&] { return !pair.log().events().empty(); }, patience));
        CHECK(pair.log().events().at(0).find("display") != std::string::npos);
    } catch (const Error& e) {
        CHECK(std::string(e.what()).find("display") != std::string::npos);
    }
}

}  // namespace
}  // namespace svc::streamer
