#include <thread>

#include "libsvc/base/processes/process.h"
#include "tests/agent/camera/camera_place.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("video is shown instead of a picture, and no longer than its writer is there") {
    CameraPlace place;
    const std::string socket = place.toggle(true);
    REQUIRE(place.post_image(plain_jpeg(640, 480, red)) == "201");
    place.open(640, 480);
    CHECK(place.shows(red));
    VideoWriter writer(socket);
    REQUIRE(writer.write(plain_frame(640, 480, green)));
    CHECK(place.shows(green));
    CHECK(place.colour() == green);
    REQUIRE(writer.write(plain_frame(640, 480, blue)));
    CHECK(place.shows(blue));
    CHECK(place.caller->metadata(CameraPlace::path).at("data_available").as_bool());
    writer.close();
    CHECK(place.shows(red));
}

TEST_CASE("frames may come in pieces of any size") {
    CameraPlace place;
    VideoWriter writer(place.toggle(true));
    place.open(640, 480);
    const std::string frames = plain_frame(640, 480, green) + plain_frame(640, 480, blue);
    std::size_t piece = 1;
    for (std::size_t at = 0; at < frames.size(); at += piece, piece = piece * 7 % 65521 + 1)
        REQUIRE(writer.write(std::string_view(frames).substr(at, piece)));
    CHECK(place.shows(blue));
}

TEST_CASE("half a frame is never shown") {
    CameraPlace place;
    const std::string socket = place.toggle(true);
    place.open(640, 480);
    {
        const VideoWriter torn(socket);
        REQUIRE(torn.write(plain_frame(640, 480, green)));
        REQUIRE(torn.write(plain_frame(640, 480, red).substr(0, 1000000)));
        CHECK(place.shows(green));
        for (int i = 0; i < 5; ++i) CHECK(place.colour() == green);
    }
    CHECK(place.shows(black));
    const VideoWriter next(socket);
    REQUIRE(next.write(plain_frame(640, 480, blue)));
    CHECK(place.shows(blue));
}

TEST_CASE("a second writer is closed at once and the first one goes on") {
    CameraPlace place;
    const std::string socket = place.toggle(true);
    place.open(640, 480);
    VideoWriter first(socket);
    REQUIRE(first.write(plain_frame(640, 480, green)));
    CHECK(place.shows(green));
    const VideoWriter second(socket);
    REQUIRE(second.connected());
    CHECK(second.is_closed());
    REQUIRE(first.write(plain_frame(640, 480, blue)));
    CHECK(place.shows(blue));
    first.close();
    const VideoWriter third(socket);
    REQUIRE(third.write(plain_frame(640, 480, red)));
    CHECK(place.shows(red));
}

TEST_CASE("a writer that began before the camera was opened is understood") {
    CameraPlace place;
    const VideoWriter writer(place.toggle(true));
    for (int i = 0; i < 3; ++i) REQUIRE(writer.write(plain_frame(640, 480, red)));
    const std::string split = plain_frame(640, 480, red);
    REQUIRE(writer.write(split.substr(0, 777777)));
    place.open(640, 480);
    REQUIRE(writer.write(split.substr(777777)));
    std::string marked = plain_frame(640, 480, blue);
    marked.replace(0, 4, plain_frame(1, 1, green));
    REQUIRE(writer.write(marked));
    REQUIRE(place.shows(blue));
    CHECK(place.look().at(0, 0) == green);
}

TEST_CASE("what was written before the camera was opened is there at once") {
    CameraPlace place;
    const VideoWriter writer(place.toggle(true));
    REQUIRE(writer.write(plain_frame(1280, 720, green)));
    place.open(1280, 720);
    CHECK(place.shows(green));
}

TEST_CASE("video is turned, also when the screen turns meanwhile") {
    CameraPlace place;
    const VideoWriter writer(place.toggle(true));
    std::string frame = plain_frame(640, 480, green);
    frame.replace(0, 4, plain_frame(1, 1, red));
    place.open(640, 480);
    REQUIRE(writer.write(frame));
    REQUIRE(place.shows(green));
    place.turn("portrait");
    const SeenFrame turned = place.look();
    CHECK(turned.width == 480);
    CHECK(turned.at(479, 0) == red);
    place.give_back(turned);
    frame.replace(4, 4, plain_frame(1, 1, blue));
    REQUIRE(writer.write(frame));
    CHECK(eventually([&] {
        const SeenFrame next = place.look();
        place.give_back(next);
        return next.at(479, 0) == red && next.at(479, 1) == blue;
    }));
}

TEST_CASE("a guest that gives nothing back does not hold up the writer") {
    CameraPlace place;
    const VideoWriter writer(place.toggle(true));
    const auto slots = static_cast<std::size_t>(place.open(640, 480).at("slots").as_int());
    std::vector<SeenFrame> held;
    for (std::size_t i = 0; i < slots; ++i) held.push_back(place.look());
    const std::string frame = plain_frame(640, 480, green);
    for (int i = 0; i < 30; ++i) REQUIRE(writer.write(frame));
    REQUIRE(writer.write(plain_frame(640, 480, blue)));
    CHECK(held[0].at(0, 0) == black);
    place.give_back(held[0]);
    CHECK(place.shows(blue));
}

TEST_CASE("a guest with one slot left sees the newest frame of a writer that stops") {
    CameraPlace place;
    const VideoWriter writer(place.toggle(true));
    const auto slots = static_cast<std::size_t>(place.open(640, 480).at("slots").as_int());
    for (std::size_t i = 0; i + 1 < slots; ++i) place.look();
    REQUIRE(writer.write(plain_frame(640, 480, green)));
    REQUIRE(writer.write(plain_frame(640, 480, blue)));
    REQUIRE(writer.write("x"));
    CHECK(place.shows(blue));
}

TEST_CASE("a toggle ends the video and closes the guest's camera") {
    CameraPlace place;
    const std::string socket = place.toggle(true);
    const VideoWriter writer(socket);
    place.open(640, 480);
    REQUIRE(writer.write(plain_frame(640, 480, green)));
    CHECK(place.shows(green));
    place.toggle(false);
    CHECK(writer.is_closed());
    CHECK(place.guest->events() ==
          std::vector<std::string>{R"({"event":"camera.closed","handle":)" + std::to_string(place.handle) +
                                   R"(,"reason":"camera support was disabled"})"});
    CHECK_FALSE(VideoWriter(socket).connected());
    const VideoWriter next(place.toggle(true));
    place.open(1280, 720);
    REQUIRE(next.write(plain_frame(1280, 720, blue)));
    CHECK(place.shows(blue));
}

TEST_CASE("toggles from all sides while video flows leave the camera whole") {
    CameraPlace place;
    place.toggle(true);
    place.open(640, 480);
    place.toggle(false);
    std::atomic<bool> done{false};
    std::thread flood([&] {
        const std::string frame = plain_frame(640, 480, green);
        while (!done) {
            for (const auto& entry : std::filesystem::directory_iterator(place.sockets())) {
                const VideoWriter writer(entry.path());
                while (!done && writer.connected() && writer.write(frame)) continue;
            }
        }
    });
    std::vector<std::thread> togglers;
    for (int i = 0; i < 3; ++i)
        togglers.emplace_back([&, i] {
            for (int round = 0; round < 40; ++round)
                place.caller->ask(Method::post, CameraPlace::path,
                                  (round + i) % 2 == 0 ? R"({"enable":true})" : R"({"enable":false})");
        });
    for (auto& toggler : togglers) toggler.join();
    done = true;
    flood.join();
    const VideoWriter writer(place.toggle(true));
    place.open(640, 480);
    REQUIRE(writer.write(plain_frame(640, 480, blue)));
    CHECK(place.shows(blue));
}

TEST_CASE("ffmpeg is a writer") {
    const std::string program = "/usr/bin/ffmpeg";
    if (!std::filesystem::exists(program)) test::skip("needs ffmpeg");
    CameraPlace place;
    const std::string socket = place.toggle(true);
    place.open(640, 480);
    SpawnOptions options;
    options.arguments = {program,
                         "-v",
                         "error",
                         "-re",
                         "-f",
                         "lavfi",
                         "-i",
                         "color=c=blue:s=640x480:r=25",
                         "-pix_fmt",
                         "rgba",
                         "-f",
                         "rawvideo",
                         "unix:" + socket};
    options.environment = {"PATH=/usr/bin:/bin"};
    const Child ffmpeg(options);
    CHECK(place.shows(blue));
}
