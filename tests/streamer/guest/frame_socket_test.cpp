#include "instance-agent/streamer/media/video/frame_socket.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "instance-agent/streamer/media/video/frame_server.h"
#include "libsvc/base/error.h"
#include "tests/streamer/guest_display/display_program.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

// A socket and what came of it.
struct Place {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-frames-"};
    std::string path = (folder.path() / "frames").string();
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<const RawFrame> newest;
    std::size_t count = 0;
    std::shared_ptr<FramePace> pace = std::make_shared<FramePace>(64 * 48);
    FrameSocket socket{path,
                       {64, 48, 100},
                       [this](std::shared_ptr<const RawFrame> frame) {
                           std::lock_guard lock(mutex);
                           newest = std::move(frame);
                           ++count;
                           changed.notify_all();
                       },
                       pace};

    bool wait_red(std::uint8_t red, std::uint32_t width) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, patience,
                                [&] { return newest && newest->width == width && newest->pixels[0] == red; });
    }
};

std::string header(std::uint32_t width, std::uint32_t height, std::uint32_t stride) {
    std::string bytes = "SVCF";
    for (const std::uint32_t value : {width, height, stride})
        for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(value >> shift & 0xff));
    return bytes;
}

TEST_CASE("black comes first, then what the guest draws, in any size") {
    Place place;
    CHECK(place.wait_red(0, 64));
    FrameWriter guest(place.path);
    guest.draw(64, 48, {7, 1, 2});
    CHECK(place.wait_red(7, 64));
    guest.draw(32, 20, {9, 1, 2});
    CHECK(place.wait_red(9, 32));
}

TEST_CASE("frame of elsewhere is shown as that of a writer, and let go of when the next one comes") {
    Place place;
    std::atomic<bool> gone = false;
    const auto pixels = std::make_shared<std::uint8_t[]>(std::size_t{64} * 48 * 4);
    pixels[0] = 8;
    place.socket.show(std::shared_ptr<const RawFrame>(new RawFrame{64, 48, 256, PixelFormat::rgbx, pixels},
                                                      [&gone](const RawFrame* old) {
                                                          delete old;
                                                          gone = true;
                                                      }));
    REQUIRE(place.wait_red(8, 64));
    CHECK_FALSE(gone);
    FrameWriter guest(place.path);
    guest.draw(64, 48, {3, 1, 2});
    REQUIRE(place.wait_red(3, 64));
    CHECK(test::eventually([&] { return gone.load(); }, patience));
}

TEST_CASE("rows may be longer than their pixels") {
    Place place;
    FrameWriter guest(place.path);
    REQUIRE(guest.send_bytes(header(2, 2, 16) + std::string(32, '\x05')));
    REQUIRE(place.wait_red(5, 2));
    CHECK(place.newest->stride == 16);
}

TEST_CASE("frame comes again when the guest draws nothing, at once when somebody asks") {
    Place place;
    const auto handed_out = [&](std::size_t count) {
        return test::eventually(
            [&] {
                std::lock_guard lock(place.mutex);
                return place.count >= count;
            },
            patience);
    };
    REQUIRE(handed_out(3));
    place.pace->asked(FramePace::Moment::clock::now());
    place.socket.wake();
    CHECK(handed_out(10));
}

TEST_CASE("what is no frame ends its writer, and the next one is heard") {
    Place place;
    for (const std::string& bytes :
         {std::string("HELLO, THIS IS NO FRAME"), header(0, 10, 0), header(10, 0, 40),
          header(4097, 10, 16388), header(10, 10, 39), header(10, 10, 0xffffffff),
          header(0xffffffff, 0xffffffff, 0xfffffffc)}) {
        FrameWriter guest(place.path);
        guest.send_bytes(bytes);
        CHECK(guest.is_closed());
    }
    FrameWriter guest(place.path);
    guest.draw(64, 48, {3, 1, 2});
    CHECK(place.wait_red(3, 64));
}

TEST_CASE("half a frame is not shown") {
    Place place;
    {
        FrameWriter guest(place.path);
        guest.draw(64, 48, {3, 1, 2});
        REQUIRE(place.wait_red(3, 64));
        guest.send_bytes(header(64, 48, 256) + std::string(100, '\x09'));
    }
    FrameWriter guest(place.path);
    guest.draw(64, 48, {4, 1, 2});
    CHECK(place.wait_red(4, 64));
}

TEST_CASE("one guest draws at a time") {
    Place place;
    FrameWriter first(place.path);
    first.draw(64, 48, {3, 1, 2});
    REQUIRE(place.wait_red(3, 64));
    FrameWriter second(place.path);
    CHECK(second.is_closed());
}

TEST_CASE("guest that sees the socket can connect to it") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-frames-");
    const std::string path = (folder.path() / "frames").string();
    std::atomic<int> refused = 0;
    std::jthread guest([&](const std::stop_token& over) {
        while (!over.stop_requested()) try {
                FrameWriter(path).send_bytes("");
            } catch (const Error& e) {
                if (std::string(e.what()).find("refused") != std::string::npos) ++refused;
            }
    });
    std::vector<std::unique_ptr<FrameServer>> feeds;
    for (int i = 0; i < 40;
         ++i) {  // another process's socket, each of which takes the place of the one before
        auto before = std::exchange(feeds, {});
        feeds.push_back(std::make_unique<FrameServer>(path));
        FrameWriter(path).send_bytes("");
    }
    guest.request_stop();
    guest.join();
    CHECK(refused == 0);
}

TEST_CASE("socket takes the place of an older one and leaves that of a newer one") {
    Place place;
    auto newer = std::make_unique<FrameServer>(place.path);
    {
        const auto older = std::move(newer);
        newer = std::make_unique<FrameServer>(place.path);
    }
    CHECK(std::filesystem::exists(place.path));
    newer.reset();
    CHECK_FALSE(std::filesystem::exists(place.path));
}

TEST_CASE("viewers of one path see the same guest, and the last one removes the socket") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-frames-");
    const std::string path = (folder.path() / "frames").string();
    std::atomic<int> red = -1, nothing = 0;
    const auto watch = [&](FrameSocket::Sink sink, FirstFrame first) {
        return std::make_unique<FrameSocket>(path, FrameSocket::Shape{64, 48, 100}, std::move(sink),
                                             std::make_shared<FramePace>(64 * 48), first);
    };
    auto stream = watch([](const std::shared_ptr<const RawFrame>&) {}, FirstFrame::black);
    FrameWriter guest(path);
    auto picture = watch([&](const std::shared_ptr<const RawFrame>& frame) { red = frame->pixels[0]; },
                         FirstFrame::none);
    guest.draw(64, 48, {7, 1, 2});
    CHECK(test::eventually([&] { return red == 7; }, patience));
    stream.reset();
    guest.draw(64, 48, {9, 1, 2});
    CHECK(test::eventually([&] { return red == 9; }, patience));
    const auto late = watch([&](const std::shared_ptr<const RawFrame>& frame) { nothing = frame->pixels[0]; },
                            FirstFrame::none);
    CHECK(test::eventually([&] { return nothing == 9; }, patience));
    picture.reset();
    CHECK(std::filesystem::exists(path));
}

TEST_CASE("viewer that wants what was drawn gets nothing before") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-frames-");
    const std::string path = (folder.path() / "frames").string();
    std::atomic<int> first = -1;
    {
        const FrameSocket picture(
            path, {64, 48, 100},
            [&](const std::shared_ptr<const RawFrame>& frame) {
                int none = -1;
                first.compare_exchange_strong(none, frame->pixels[0]);
            },
            std::make_shared<FramePace>(64 * 48), FirstFrame::none);
        FrameWriter guest(path);
        guest.draw(64, 48, {7, 1, 2});
        CHECK(test::eventually([&] { return first != -1; }, patience));
    }
    CHECK(first == 7);
    CHECK_FALSE(std::filesystem::exists(path));
}

// The first byte of the first frame that a viewer gets who shows nothing meanwhile.
int first_seen(const DisplayPlace& place, const std::function<void()>& meanwhile) {
    const std::string path = (place.folder.path() / "frames").string();
    std::atomic<int> seen = -1;
    const FrameSocket viewer(
        path, {64, 48, 100},
        [&](const std::shared_ptr<const RawFrame>& frame) {
            int nothing = -1;
            seen.compare_exchange_strong(nothing, int{frame->pixels[0]});
        },
        std::make_shared<FramePace>(64 * 48), FirstFrame::none, place.display);
    meanwhile();
    CHECK(test::eventually([&] { return seen != -1; }));
    return seen;
}

TEST_CASE("who begins to watch a display sees what is drawn then, or the last picture where nothing is") {
    DisplayPlace place;
    DisplayProgram program(place.path);
    program.next(1);
    const std::uint32_t buffer = program.new_buffer();
    const int watcher = place.watch();
    CHECK(program.next(1) == Lines{"mode 64x48 160 30 true"});
    program.draw(buffer, 5);
    CHECK(test::eventually([&] { return place.first_byte() == 5; }));
    place.display->unwatch(watcher);
    CHECK(program.next(1) == Lines{"mode 64x48 160 30 false"});
    const auto redraw = [&] {
        CHECK(program.next(1) == Lines{"mode 64x48 160 30 true"});
        const std::uint32_t other = program.new_buffer();
        program.draw(other, 6);
    };
    CHECK(first_seen(place, redraw) == 6);
    CHECK(first_seen(place, [] {}) == 6);
}

}  // namespace
}  // namespace svc::streamer
