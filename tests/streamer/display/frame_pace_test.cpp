#include "instance-agent/streamer/media/video/frame_pace.h"

#include <catch2/catch.hpp>

#include "instance-agent/streamer/media/meters/even_times.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t pixels = 1280 * 720, much = 5000, spare = 20;

// Thirty chances a second to send a frame; each that is sent is encoded to so many bytes.
struct Stream {
    FramePace pace{pixels};
    FramePace::Moment now{1h};
    int sent(FramePace::Duration time, std::size_t bytes) {
        int count = 0;
        for (const auto end = now + time; now < end; now += 33ms) {
            if (!pace.is_wanted(now)) continue;
            pace.sent(now);
            pace.encoded(bytes);
            ++count;
        }
        return count;
    }
};

TEST_CASE("first picture is wanted, and then one a second") {
    Stream stream;
    CHECK(stream.sent(100ms, much) == 1);
    const int beats = stream.sent(10s, much);
    CHECK((beats >= 9 && beats <= 10));
}

TEST_CASE("change is wanted at once, and repeated until the encoder has nothing to add") {
    Stream stream;
    stream.sent(500ms, much);
    stream.pace.changed(stream.now);
    CHECK(stream.pace.is_wanted(stream.now));
    CHECK(stream.sent(100ms, much) == 4);
    CHECK(stream.sent(300ms, spare) == 3);
    CHECK(stream.sent(3s, spare) <= 3);
}

TEST_CASE("picture that the encoder never finishes is repeated for a while") {
    Stream stream;
    stream.pace.changed(stream.now);
    CHECK(stream.sent(2s, much) == 61);
    CHECK(stream.sent(5s, much) <= 6);
}

TEST_CASE("small frames after one beyond the budget do not count as finished") {
    Stream stream;
    stream.pace.set_budget(1000);
    stream.pace.changed(stream.now);
    stream.sent(1ms, 8000);
    CHECK(stream.sent(360ms, spare) == 11);
    CHECK(stream.sent(500ms, spare) == 0);
}

TEST_CASE("each change is wanted though the frames are small") {
    Stream stream;
    for (int i = 0; i < 30; ++i) {
        stream.pace.changed(stream.now);
        CHECK(stream.sent(33ms, spare) == 1);
    }
}

TEST_CASE("request is answered though nothing changes, and some frames more") {
    Stream stream;
    stream.sent(3s, spare);
    stream.pace.asked(stream.now);
    CHECK(stream.pace.next(stream.now) == stream.now);
    CHECK(stream.sent(300ms, spare) == 10);
    CHECK(stream.sent(900ms, spare) == 0);
    CHECK(stream.pace.next(stream.now) > stream.now);
}

TEST_CASE("encoder sees rests as if frames had followed each other, its frames have their own times") {
    EvenTimes times(100);
    CHECK(times.enter(1000) == 1000);
    CHECK(times.enter(1100) == 1100);
    CHECK(times.leave(1000) == 1000);
    CHECK(times.leave(1100) == 1100);
    CHECK(times.enter(9000) == 1200);
    CHECK(times.enter(9090) == 1290);
    CHECK(times.enter(20'000) == 1390);
    CHECK(times.leave(1200) == 9000);
    CHECK(times.leave(1390) == 20'000);  // the one between was dropped
}

}  // namespace
}  // namespace svc::streamer
