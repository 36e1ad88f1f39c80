// The display of a guest and a program with libsvcguest, over a real socket.
#include "instance-agent/streamer/guest_display/guest_display.h"

#include <linux/input-event-codes.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>
#include <utility>

#include "instance-agent/streamer/guest_display/guest_input.h"
#include "instance-agent/streamer/guest_display/guest_screen.h"
#include "tests/streamer/guest_display/display_program.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using Place = DisplayPlace;
using Program = DisplayProgram;

TEST_CASE("a display program learns the mode and each change of it") {
    Place place;
    Program program(place.path);
    CHECK(program.next(1) == Lines{"mode 64x48 160 30 false"});
    const auto screen = make_guest_screen(place.display);
    CHECK(screen->resize({320, 240}) == ScreenSize{320, 240});
    CHECK(program.next(1) == Lines{"mode 320x240 160 30 false"});
    screen->set_density(240);
    CHECK(program.next(1) == Lines{"mode 320x240 240 30 false"});
    const int watcher = place.watch();
    CHECK(program.next(1) == Lines{"mode 320x240 240 30 true"});
    place.display->unwatch(watcher);
    CHECK(program.next(1) == Lines{"mode 320x240 240 30 false"});
}

TEST_CASE("what a program presents is shown, and comes back when another picture takes its place") {
    Place place;
    place.watch();
    Program program(place.path);
    program.next(1);
    const std::uint32_t first = program.new_buffer();
    const svcguest_pixels of_first = program.pixels;
    const std::uint32_t second = program.new_buffer(SVCGUEST_BGRA);
    CHECK(program.draw(second, 9) == 0);
    CHECK(test::eventually([&] { return place.first_byte() == 9; }));
    CHECK(program.draw(second, 9) == -EBUSY);
    program.pixels = of_first;
    CHECK(program.draw(first, 5) == 0);
    CHECK(test::eventually([&] { return place.first_byte() == 5; }));
    CHECK(program.next(1) == Lines{"released " + std::to_string(second)});
}

TEST_CASE("a program that draws before anybody watches is seen by the first who does") {
    Place place;
    Program program(place.path);
    program.next(1);
    const std::uint32_t buffers[] = {program.new_buffer(), program.new_buffer()};
    CHECK(program.draw(buffers[0], 0) == 0);
    CHECK(program.draw(buffers[1], 8) == 0);
    CHECK(program.next(1) == Lines{"released 0"});
    place.watch();
    CHECK(place.first_byte() == 8);
}

TEST_CASE("the last picture stays when its program goes") {
    Place place;
    place.watch();
    {
        Program program(place.path);
        program.next(1);
        program.draw(program.new_buffer(), 6);
        CHECK(test::eventually([&] { return place.first_byte() == 6; }));
    }
    Program program(place.path);
    CHECK(program.next(1) == Lines{"mode 64x48 160 30 true"});
    CHECK(place.first_byte() == 6);
}

TEST_CASE("the last picture of a program that ends at once, with input that it has not read, is shown") {
    Place place;
    place.watch();
    const auto input = make_guest_input(place.display);
    for (int i = 1; i <= 20; ++i) {
        Program program(place.path);
        program.next(1);
        const std::uint32_t buffer = program.new_buffer();
        input->wheel(0, 1);
        program.draw(buffer, static_cast<std::uint8_t>(i));
        svcguest_display_close(std::exchange(program.display, nullptr));
        CHECK(test::eventually([&] { return place.first_byte() == i; }));
    }
}

TEST_CASE("all input reaches the program that draws") {
    Place place;
    Program program(place.path);
    program.next(1);
    const auto input = make_guest_input(place.display);
    input->move(10.9, 2000);
    input->move_by(-3, 4);
    input->wheel(0, -1);
    input->button(1, true);
    input->button(1, true);
    input->button(1, false);
    input->key(KEY_A, true);
    input->key(KEY_A, false);
    input->key(KEY_A, false);
    input->touch_move(3, 1, 1);  // it is not down
    for (int finger = 0; finger < 10; ++finger) input->touch_start(finger, finger, -5);
    input->touch_move(9, 20, 21);
    input->touch_end(9);
    input->text("ä");
    input->gamepad_button(3, 0, true);
    input->gamepad_button(3, 0, false);
    input->gamepad_axis(3, 0, -0.5);
    input->gamepad_axis(3, 5, -0.5);
    input->key(KEY_ESC, true);
    Lines wanted{"pointer 10 47",      "by -3 4",     "wheel 0 -1",  "button 0x110 true",
                 "button 0x110 false", "key 30 true", "key 30 false"};
    for (int finger = 0; finger < 10; ++finger) wanted.push_back(fmt::format("down {0} {0} 0", finger));
    for (const char* line : {"move 9 20 21", "up 9", "text ä", "pad 3 0x130 true", "pad 3 0x130 false",
                             "axis 3 0 -0.5", "axis 3 5 0.25", "key 1 true"})
        wanted.push_back(line);
    CHECK(program.next(wanted.size()) == wanted);
}

TEST_CASE("all that is down comes up when the client leaves or the streamer ends") {
    Place place;
    Program program(place.path);
    program.next(1);
    auto input = make_guest_input(place.display);
    input->touch_start(2, 1, 1);
    input->key(KEY_A, true);
    input->button(3, true);
    input->gamepad_button(0, 1, true);
    input->gamepad_axis(0, 1, 1);
    CHECK(program.next(5).size() == 5);
    Lines ups{"up 2", "key 30 false", "button 0x111 false", "pad 0 0x131 false", "axis 0 1 0"};
    SECTION("client") {
        input->release_all();
        input->key(KEY_B, true);
        ups.push_back("key 48 true");
        CHECK(program.next(6) == ups);
    }
    SECTION("streamer") {
        input.reset();
        place.display.reset();
        ups.push_back("disconnected: the streamer has ended");
        CHECK(program.next(6) == ups);
    }
}

TEST_CASE("a program outlives the streamer and finds the next one") {
    Place place;
    place.display.reset();
    Program program(place.path);
    const std::uint32_t buffer = program.new_buffer();
    CHECK(program.draw(buffer, 1) == -ENOTCONN);
    CHECK(svcguest_display_dispatch(program.display, 0) == 0);
    place.display = place.make();
    CHECK(program.next(1) == Lines{"mode 64x48 160 30 false"});
    CHECK(program.draw(buffer, 1) == 0);
    place.display.reset();
    CHECK(program.next(2) == Lines{"released 0", "disconnected: the streamer has ended"});
    CHECK(program.draw(buffer, 1) == -ENOTCONN);
    place.display = place.make();
    place.watch();
    CHECK(program.next(1) == Lines{"mode 64x48 160 30 true"});
    CHECK(program.draw(buffer, 4) == 0);
    CHECK(test::eventually([&] { return place.first_byte() == 4; }));
}

TEST_CASE("one program draws at a time, the next one when it has gone") {
    Place place;
    std::optional<Program> first(std::in_place, place.path);
    first->next(1);
    Program second(place.path);
    CHECK(second.next(1) == Lines{"disconnected: another program draws the display"});
    first.reset();
    CHECK(second.next(1) == Lines{"mode 64x48 160 30 false"});
}

TEST_CASE("calls about buffers that make no sense") {
    Place place;
    Program program(place.path);
    program.next(1);
    CHECK(svcguest_display_present(program.display, 0) == -EINVAL);
    CHECK(svcguest_display_present(program.display, 8) == -EINVAL);
    CHECK(svcguest_display_remove_buffer(program.display, 0) == -EINVAL);
    svcguest_buffer shape{64, 48, 256, 0, SVCGUEST_RGBA, 0};
    CHECK(svcguest_display_add_buffer(program.display, &shape, -1) == -EBADF);
    CHECK(svcguest_display_new_buffer(program.display, 5000, 48, SVCGUEST_RGBA, &program.pixels) == -EINVAL);
    for (int i = 0; i < SVCGUEST_DISPLAY_BUFFERS; ++i) program.new_buffer();
    CHECK(svcguest_display_new_buffer(program.display, 64, 48, SVCGUEST_RGBA, &program.pixels) == -ENOSPC);
    CHECK(svcguest_display_remove_buffer(program.display, 4) == 0);
    CHECK(program.new_buffer() == 4);
}

}  // namespace
}  // namespace svc::streamer
