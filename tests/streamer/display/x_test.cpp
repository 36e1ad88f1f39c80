// On a real X server: what the client does reaches programs, and the screen has the size it asked for.
#include <catch2/catch.hpp>

#include <linux/input-event-codes.h>

#include "instance-agent/streamer/display/screen.h"
#include "instance-agent/streamer/input/input.h"
#include "libsvc/base/error.h"
#include "tests/streamer/display/x_server.h"

using namespace svc;
using namespace svc::streamer;
using Notes = std::vector<std::string>;

namespace {

struct Desk {
    test::XServer server;
    test::XListener listener{server.display()};
    std::unique_ptr<InputSink> input = make_xtest_input(server.display());
};

}  // namespace

TEST_CASE("keys and clicks reach a program on the display") {
    Desk desk;
    desk.input->key(KEY_A, true);
    desk.input->key(KEY_A, false);
    CHECK(desk.listener.notes(2) == Notes{"press 38 a", "release 38"});
    desk.input->key(KEY_UP, true);
    desk.input->key(KEY_UP, false);
    CHECK(desk.listener.notes(2) == Notes{"press 111 ", "release 111"});
    desk.input->move(100.7, 50);
    CHECK(desk.listener.notes(1) == Notes{"move 100,50"});
    desk.input->button(3, true);
    desk.input->button(3, true);
    desk.input->button(3, false);
    CHECK(desk.listener.notes(2) == Notes{"button 3 at 100,50", "let 3"});
    desk.input->button(5, true);
    desk.input->button(5, false);
    CHECK(desk.listener.notes(2) == Notes{"button 9 at 100,50", "let 9"});
    desk.input->move_by(-10, 5);
    CHECK(desk.listener.notes(1) == Notes{"move 90,55"});
    desk.input->move(1e9, -1e9);
    CHECK(desk.listener.notes(1) == Notes{"move 1599,0"});
}

TEST_CASE("the wheel turns in four directions") {
    Desk desk;
    desk.input->move(1, 1);
    desk.listener.notes(1);
    desk.input->wheel(0, -1);
    desk.input->wheel(0, 1);
    desk.input->wheel(-1, 0);
    desk.input->wheel(1, 0);
    CHECK(desk.listener.notes(8) == Notes{"button 5 at 1,1", "let 5", "button 4 at 1,1", "let 4",
                                          "button 6 at 1,1", "let 6", "button 7 at 1,1", "let 7"});
}

TEST_CASE("the first finger is the pointer") {
    Desk desk;
    desk.input->touch_start(3, 10, 10);
    desk.input->touch_start(4, 500, 500);
    desk.input->touch_move(4, 600, 600);
    desk.input->touch_move(3, 20, 20);
    desk.input->touch_end(4);
    desk.input->touch_end(3);
    CHECK(desk.listener.notes(4) == Notes{"move 10,10", "button 1 at 10,10", "move 20,20", "let 1"});
}

TEST_CASE("text of any script is typed") {
    Desk desk;
    desk.input->text("aB!ß€я");
    CHECK(desk.listener.typed(6) == "aB!\xdfU+8364U+1103");
    std::string many;  // more characters than the keymap has room for
    for (int i = 0; i < 100; ++i) many += "я";
    desk.input->text(many);
    std::string expected;
    for (int i = 0; i < 100; ++i) expected += "U+1103";
    CHECK(desk.listener.typed(100) == expected);
}

TEST_CASE("text is what was written while caps lock is on") {
    Desk desk;
    for (const bool pressed : {true, false}) desk.input->key(KEY_CAPSLOCK, pressed);
    desk.listener.notes(2);
    desk.input->text("aB!");
    CHECK(desk.listener.typed(3) == "aB!");
    for (const bool pressed : {true, false}) desk.input->key(KEY_A, pressed);
    CHECK(desk.listener.typed(1) == "A");  // it is still on
}

TEST_CASE("what is down is let go when the client goes") {
    Desk desk;
    desk.input->key(KEY_LEFTSHIFT, true);
    desk.input->touch_start(0, 5, 5);
    desk.listener.notes(3);
    desk.input->release_all();
    CHECK(desk.listener.notes(2) == Notes{"let 1", "release 50"});
}

TEST_CASE("the screen takes the size and density that a client wishes") {
    Desk desk;
    const auto screen = make_x_screen(desk.server.display());
    CHECK(screen->resize({1280, 720}) == ScreenSize{1280, 720});
    CHECK(desk.listener.screen_size() == std::pair(1280, 720));
    CHECK(screen->resize({720, 1200}) == ScreenSize{720, 1200});
    CHECK(screen->resize({1280, 720}) == ScreenSize{1280, 720});
    CHECK(screen->resize({2, 2}) == ScreenSize{2, 2});
    CHECK(screen->resize({3840, 2160}) == ScreenSize{1600, 1200});  // as far as this server goes
    screen->set_density(240);
    CHECK(desk.listener.resource("Xft.dpi") == "144");
    screen->set_density(160);
    CHECK(desk.listener.resource("Xft.dpi") == "96");
}

TEST_CASE("a display that is not there is unavailable") {
    for (const auto& make : {+[] { make_x_screen(":65000"); }, +[] { make_xtest_input(":65000"); }}) {
        try {
            make();
            FAIL("there is no such display");
        } catch (const Error& e) {
            CHECK(e.code() == ErrorCode::unavailable);
        }
    }
}

TEST_CASE("sizes are even and not larger than what can be streamed") {
    CHECK(allowed_size(641, 361) == ScreenSize{642, 362});
    CHECK(allowed_size(10000, 10000) == ScreenSize{3840, 2160});
    CHECK(allowed_size(3839, 2159) == ScreenSize{3840, 2160});
    CHECK(allowed_size(3841, 2161) == ScreenSize{3840, 2160});
    CHECK(allowed_size(2160, 3840) == ScreenSize{2160, 3840});
    CHECK(allowed_size(2161, 3841) == ScreenSize{2160, 3840});
    CHECK(allowed_size(2161, 2162) == ScreenSize{2160, 2162});
    CHECK(allowed_size(1, 1) == ScreenSize{2, 2});
}
