// A peer can be ended at any moment and leaves nothing.
#include <catch2/catch.hpp>
#include <filesystem>

#include "instance-agent/streamer/media/video/codecs.h"
#include "libsvc/base/error.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

std::size_t entries_of(const char* folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
}

TEST_CASE("peer ends at each stage") {
    MediaPair::Wish wish;
    wish.settings.camera = wish.settings.microphone = true;
    wish.client.camera = Colour{10, 200, 10};
    SECTION("before it has made its offer") {
        start_media();
        PeerLog log;
        const TemporaryDirectory place(std::filesystem::temp_directory_path(), "svc-media-");
        PeerSetup setup;
        setup.places.frame_socket = (place.path() / "frames").string();
        for (int i = 0; i < 5; ++i) GstPeer(setup, log);
        CHECK_FALSE(std::filesystem::exists(setup.places.frame_socket));
    }
    SECTION("with an offer made") {
        MediaPair pair(wish);
    }
    SECTION("with the answer just taken") {
        MediaPair pair(wish);
        pair.connect();
    }
    SECTION("with frames and camera on their way") {
        MediaPair pair(wish);
        pair.connect();
        pair.peer().set_camera_sink(160, 120, 15, [](const std::uint8_t*, std::size_t) {});
        REQUIRE(pair.client().wait_frames(1, patience));
        pair.end_peer();
        CHECK_FALSE(std::filesystem::exists(pair.frame_path()));
    }
    SECTION("with the client gone") {
        MediaPair pair(wish);
        pair.connect();
        REQUIRE(pair.client().wait_frames(1, patience));
        pair.end_client();
    }
}

constexpr int by_its_user = 12;  // RFC 9260, 3.3.10.12

TEST_CASE("end of a peer is learnt at once, after what was said last") {
    MediaPair pair({});
    pair.connect();
    REQUIRE(pair.client().wait_frames(1, patience));
    REQUIRE(pair.log().wait_event("open control", patience));
    REQUIRE(pair.client().wait_channel("control", patience));
    SECTION("that is told first") {
        REQUIRE(pair.peer().send("control", false, "goodbye"));
        pair.peer().end();
        const auto last = pair.client().next_message(patience);
        REQUIRE(last);
        CHECK(last->data == "goodbye");
    }
    SECTION("that just goes") {
        pair.end_peer();
    }
    CHECK(pair.client().wait_abort(patience) == by_its_user);
    CHECK(pair.client().wait_closed(patience));
}

TEST_CASE("peer that cannot listen for frames says so when the client has answered") {
    MediaPair::Wish wish;
    wish.frame_path = "/nowhere/at/all/frames";
    MediaPair pair(wish);
    CHECK_THROWS_AS(pair.connect(), Error);
}

TEST_CASE("twenty peers one after another leave no threads and no descriptors") {
    const auto once = [] {
        MediaPair pair({});
        pair.connect();
        REQUIRE(pair.client().wait_frames(1, patience));
    };
    once();
    once();
    const std::size_t threads = entries_of("/proc/self/task"), files = entries_of("/proc/self/fd");
    for (int i = 0; i < 18; ++i) once();
    // One more of each peer would be eighteen; a library's own come and go.
    CHECK(test::eventually([&] { return entries_of("/proc/self/task") < threads + 9; }, patience));
    CHECK(test::eventually([&] { return entries_of("/proc/self/fd") <= files + 2; }, patience));
}

}  // namespace
}  // namespace svc::streamer
