#include <linux/input-event-codes.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "instance-agent/streamer/input/client_input.h"
#include "instance-agent/streamer/input/device_input.h"
#include "instance-agent/streamer/input/utf8.h"
#include "instance-agent/streamer/input/with_pads.h"
#include "libsvc/base/error.h"
#include "tests/streamer/input/fake_input.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace svc::streamer;
using Notes = std::vector<std::string>;

namespace {

struct Typist {
    test::FakeInput sink;
    ClientInput input{sink};
    Notes apply(const std::string& type, const std::string& data) {
        const Json value = Json::parse(data);
        input.apply("input::" + type, JsonFields(value));
        return sink.take();
    }
    bool refuses(const std::string& type, const std::string& data) {
        try {
            apply(type, data);
        } catch (const Error& e) {
            return e.code() == ErrorCode::invalid_argument && sink.take().empty();
        }
        return false;
    }
};

// A device that keeps its events as "type code value".
class NotedDevice final : public VirtualDevice {
  public:
    NotedDevice(std::string name, Notes& notes) : name_(std::move(name)), notes_(notes) {}
    void emit(int type, int code, int value) override {
        if (type == EV_SYN) return notes_.push_back(name_ + " sync");
        notes_.push_back(fmt::format("{} {} {} {}", name_, type, code, value));
    }

  private:
    std::string name_;
    Notes& notes_;
};

struct Devices {
    Notes notes;
    std::vector<DeviceAbilities> made;
    DeviceInput input{[this](const DeviceAbilities& abilities) {
                          made.push_back(abilities);
                          return std::make_unique<NotedDevice>(abilities.name.substr(11), notes);
                      },
                      100, 50};
    Notes take() { return std::exchange(notes, {}); }
};

}  // namespace

TEST_CASE("each key of a client has its linux code") {
    const std::vector<std::pair<int, int>> table{
        {4, KEY_A},           {5, KEY_B},           {6, KEY_C},           {7, KEY_D},
        {8, KEY_E},           {9, KEY_F},           {10, KEY_G},          {11, KEY_H},
        {12, KEY_I},          {13, KEY_J},          {14, KEY_K},          {15, KEY_L},
        {16, KEY_M},          {17, KEY_N},          {18, KEY_O},          {19, KEY_P},
        {20, KEY_Q},          {21, KEY_R},          {22, KEY_S},          {23, KEY_T},
        {24, KEY_U},          {25, KEY_V},          {26, KEY_W},          {27, KEY_X},
        {28, KEY_Y},          {29, KEY_Z},          {30, KEY_1},          {31, KEY_2},
        {32, KEY_3},          {33, KEY_4},          {34, KEY_5},          {35, KEY_6},
        {36, KEY_7},          {37, KEY_8},          {38, KEY_9},          {39, KEY_0},
        {40, KEY_ENTER},      {41, KEY_ESC},        {42, KEY_BACKSPACE},  {43, KEY_TAB},
        {44, KEY_SPACE},      {45, KEY_MINUS},      {46, KEY_EQUAL},      {47, KEY_LEFTBRACE},
        {48, KEY_RIGHTBRACE}, {49, KEY_BACKSLASH},  {50, KEY_APOSTROPHE}, {51, KEY_SEMICOLON},
        {54, KEY_COMMA},      {55, KEY_DOT},        {56, KEY_SLASH},      {57, KEY_CAPSLOCK},
        {58, KEY_F1},         {59, KEY_F2},         {60, KEY_F3},         {61, KEY_F4},
        {62, KEY_F5},         {63, KEY_F6},         {64, KEY_F7},         {65, KEY_F8},
        {66, KEY_F9},         {67, KEY_F10},        {68, KEY_F11},        {69, KEY_F12},
        {70, KEY_SYSRQ},      {71, KEY_SCROLLLOCK}, {72, KEY_PAUSE},      {73, KEY_INSERT},
        {74, KEY_HOME},       {75, KEY_PAGEUP},     {76, KEY_DELETE},     {77, KEY_END},
        {78, KEY_PAGEDOWN},   {79, KEY_RIGHT},      {80, KEY_LEFT},       {81, KEY_DOWN},
        {82, KEY_UP},         {83, KEY_LEFTCTRL},   {84, KEY_LEFTSHIFT},  {85, KEY_LEFTALT},
        {86, KEY_LEFTMETA},   {87, KEY_RIGHTALT},   {88, KEY_NUMLOCK},    {89, KEY_VOLUMEDOWN},
        {90, KEY_VOLUMEUP},   {91, KEY_POWER},      {92, KEY_BACK}};
    for (const auto& [client, linux_code] : table) {
        CAPTURE(client);
        CHECK(linux_key(client) == linux_code);
    }
    for (const int unknown : {-1, 0, 3, 52, 53, 93, 1000}) CHECK(linux_key(unknown) == 0);
}

TEST_CASE("each message of input reaches the sink") {
    Typist typist;
    CHECK(typist.apply("mouse-move", R"({"rx":1,"ry":2,"x":3.5,"y":4})") == Notes{"move 3.5 4"});
    CHECK(typist.apply("mouse-move", R"({"rx":-1,"ry":2})") == Notes{"by -1 2"});
    CHECK(typist.apply("mouse-button", R"({"button":3,"pressed":true})") == Notes{"button 3 true"});
    CHECK(typist.apply("mouse-wheel", R"({"x":0,"y":-1})") == Notes{"wheel 0 -1"});
    CHECK(typist.apply("key", R"({"code":4,"pressed":false})") == Notes{"key 30 false"});
    CHECK(typist.apply("key", R"({"pressed":true})").empty());
    CHECK(typist.apply("key", R"({"code":52,"pressed":true})").empty());
    CHECK(typist.apply("gamepad-button", R"({"id":1,"index":12,"pressed":true})") == Notes{"pad 1 12 true"});
    CHECK(typist.apply("gamepad-axes", R"({"id":0,"index":3,"value":-0.5})") == Notes{"axis 0 3 -0.5"});
    CHECK(typist.apply("ime-event", R"({"type":1,"text":"grüße"})") == Notes{"text grüße"});
    CHECK(typist.apply("ime-event", R"({"type":1,"data":{"text":"grüße"}})") == Notes{"text grüße"});
    CHECK(typist.refuses("ime-event", R"({"type":1,"data":"grüße"})"));
    CHECK(typist.apply("ime-event", R"({"type":2,"code":67,"times":2})") ==
          Notes{"key 14 true", "key 14 false", "key 14 true", "key 14 false"});
    CHECK(typist.apply("ime-event", R"({"type":3,"name":"go","params":{}})") ==
          Notes{"key 28 true", "key 28 false"});
}

TEST_CASE("touches move between their start and end alone") {
    Typist typist;
    CHECK(typist.apply("touch-move", R"({"id":0,"x":1,"y":1})").empty());
    CHECK(typist.apply("touch-end", R"({"id":0,"last":true})").empty());
    CHECK(typist.apply("touch-start", R"({"id":9,"x":1,"y":1})") == Notes{"touch 9 1 1"});
    CHECK(typist.apply("touch-move", R"({"id":9,"x":2,"y":2})") == Notes{"drag 9 2 2"});
    CHECK(typist.apply("touch-cancel", R"({"id":9})") == Notes{"lift 9"});
    CHECK(typist.apply("touch-move", R"({"id":9,"x":2,"y":2})").empty());
}

TEST_CASE("a text that is composed is typed and taken back") {
    Typist typist;
    CHECK(typist.apply("ime-event", R"({"type":4,"text":"ä"})") == Notes{"text ä"});
    CHECK(typist.apply("ime-event", R"({"type":4,"text":"äh"})") ==
          Notes{"key 14 true", "key 14 false", "text äh"});
    CHECK(typist.apply("ime-event", R"({"type":1,"text":"ah"})") ==
          Notes{"key 14 true", "key 14 false", "key 14 true", "key 14 false", "text ah"});
    CHECK(typist.apply("ime-event", R"({"type":1,"text":"b"})") == Notes{"text b"});
}

TEST_CASE("input out of range or of another type is refused") {
    Typist typist;
    CHECK(typist.refuses("mouse-move", R"({})"));
    CHECK(typist.refuses("mouse-move", R"({"x":1})"));
    CHECK(typist.refuses("mouse-move", R"({"x":"1","y":1})"));
    CHECK(typist.refuses("mouse-move", R"({"x":1e300,"y":1})"));
    CHECK(typist.refuses("mouse-move", R"({"rx":0.5,"ry":1})"));
    CHECK(typist.refuses("mouse-button", R"({"button":0,"pressed":true})"));
    CHECK(typist.refuses("mouse-button", R"({"button":1})"));
    CHECK(typist.refuses("mouse-button", R"({"button":1,"pressed":1})"));
    CHECK(typist.refuses("mouse-wheel", R"({"x":0,"y":1000000})"));
    CHECK(typist.refuses("touch-start", R"({"id":10,"x":1,"y":1})"));
    CHECK(typist.refuses("touch-start", R"({"id":-1,"x":1,"y":1})"));
    CHECK(typist.refuses("touch-start", R"({"id":0})"));
    CHECK(typist.refuses("key", R"({"code":4})"));
    CHECK(typist.refuses("key", R"({"code":-4,"pressed":true})"));
    CHECK(typist.refuses("gamepad-button", R"({"id":9,"index":0,"pressed":true})"));
    CHECK(typist.refuses("gamepad-axes", R"({"id":0,"index":0,"value":1.5})"));
    CHECK(typist.refuses("ime-event", R"({"type":6})"));
    CHECK(typist.refuses("ime-event", R"({"type":1})"));
    CHECK(typist.refuses("ime-event", R"({"type":2,"code":67,"times":1000})"));
    CHECK(typist.refuses("ime-event", R"({"type":1,"text":")" + std::string(5000, 'x') + "\"}"));
    CHECK(typist.refuses("teleport", "{}"));
}

TEST_CASE("what is no utf 8 is left out of a text") {
    CHECK(characters_of("aä€😀") == U"aä€😀");
    CHECK(characters_of("a\xff\xc3"
                        "b\xe2\x82") == U"ab");
}

TEST_CASE("devices are told fingers by slot") {
    Devices devices;
    CHECK(devices.made.size() == 4);
    devices.input.touch_start(0, 10, 20);
    CHECK(devices.take() == Notes{"touch panel 3 47 0", "touch panel 3 57 0", "touch panel 1 330 1",
                                  "touch panel 3 53 10", "touch panel 3 54 20", "touch panel 3 0 10",
                                  "touch panel 3 1 20", "touch panel sync"});
    devices.input.touch_start(1, 1000, -5);
    CHECK(devices.take() == Notes{"touch panel 3 47 1", "touch panel 3 57 1", "touch panel 3 53 99",
                                  "touch panel 3 54 0", "touch panel sync"});
    devices.input.touch_end(0);
    CHECK(devices.take() == Notes{"touch panel 3 47 0", "touch panel 3 57 -1", "touch panel sync"});
    devices.input.touch_end(1);
    CHECK(devices.take() ==
          Notes{"touch panel 3 47 1", "touch panel 3 57 -1", "touch panel 1 330 0", "touch panel sync"});
}

TEST_CASE("devices let go of all when the client goes") {
    Devices devices;
    devices.input.key(KEY_A, true);
    devices.input.key(KEY_A, true);  // a browser repeats
    devices.input.button(1, true);
    devices.input.touch_start(2, 1, 1);
    CHECK(devices.take().size() == 2 + 2 + 8);
    devices.input.release_all();
    CHECK(devices.take() == Notes{"touch panel 3 47 2", "touch panel 3 57 -1", "touch panel 1 330 0",
                                  "touch panel sync", "keyboard 1 30 0", "keyboard sync", "mouse 1 272 0",
                                  "mouse sync"});
    devices.input.release_all();
    CHECK(devices.take() == Notes{"mouse sync"});
}

TEST_CASE("a gamepad is there once it is used") {
    Devices devices;
    devices.input.gamepad_axis(1, 0, -1);
    REQUIRE(devices.made.size() == 5);
    CHECK(devices.made.back().name == "svc stream gamepad 2");
    CHECK(devices.take() == Notes{"gamepad 2 3 0 -32767", "gamepad 2 sync"});
    devices.input.gamepad_button(1, 12, true);
    CHECK(devices.take() == Notes{"gamepad 2 1 544 1", "gamepad 2 sync"});
    devices.input.gamepad_button(7, 0, true);
    CHECK(devices.take().empty());
}

TEST_CASE("a trigger is pulled by its button unless the client tells of its axis") {
    Devices devices;
    devices.input.gamepad_button(0, 7, true);
    CHECK(devices.take() == Notes{"gamepad 1 1 313 1", "gamepad 1 3 5 255", "gamepad 1 sync"});
    devices.input.gamepad_button(0, 7, false);
    CHECK(devices.take() == Notes{"gamepad 1 1 313 0", "gamepad 1 3 5 0", "gamepad 1 sync"});
    devices.input.gamepad_axis(0, 5, 0);
    devices.take();
    devices.input.gamepad_button(0, 7, true);
    CHECK(devices.take() == Notes{"gamepad 1 1 313 1", "gamepad 1 sync"});
}

TEST_CASE("the left and the upper button of a gamepad are X and Y") {
    Devices devices;
    devices.input.gamepad_button(0, 2, true);
    devices.input.gamepad_button(0, 3, true);
    CHECK(devices.take() ==
          Notes{"gamepad 1 1 307 1", "gamepad 1 sync", "gamepad 1 1 308 1", "gamepad 1 sync"});
}

TEST_CASE("gamepads are devices of their own beside a sink without gamepads") {
    Notes notes;
    auto plain = std::make_unique<test::FakeInput>();
    test::FakeInput& sink = *plain;
    const auto input = with_pads(std::move(plain), [&](const DeviceAbilities& abilities) {
        return std::make_unique<NotedDevice>(abilities.name, notes);
    });
    input->gamepad_button(0, 0, true);
    input->gamepad_axis(0, 4, 1);
    CHECK(notes == Notes{"svc stream gamepad 1 1 304 1", "svc stream gamepad 1 sync",
                         "svc stream gamepad 1 3 2 255", "svc stream gamepad 1 sync"});
    CHECK(sink.take().empty());
    input->key(KEY_A, true);
    input->move(1, 2);
    input->resized(10, 20);
    input->release_all();
    CHECK(sink.take() == Notes{"key 30 true", "move 1 2", "size 10 20", "release"});
}

TEST_CASE("devices type what their keys have") {
    Devices devices;
    devices.input.text("aA€");
    CHECK(devices.take() == Notes{"keyboard 1 30 1", "keyboard sync", "keyboard 1 30 0", "keyboard sync",
                                  "keyboard 1 42 1", "keyboard sync", "keyboard 1 30 1", "keyboard sync",
                                  "keyboard 1 30 0", "keyboard sync", "keyboard 1 42 0", "keyboard sync"});
}

TEST_CASE("devices type what was written while caps lock is on") {
    Devices devices;
    const auto tap = [&](int key) {
        devices.input.key(key, true);
        devices.input.key(key, false);
        devices.take();
    };
    const Notes plain{"keyboard 1 30 1", "keyboard sync", "keyboard 1 30 0", "keyboard sync"};
    tap(KEY_CAPSLOCK);
    devices.input.text("A");
    CHECK(devices.take() == plain);
    devices.input.text("a");
    CHECK(devices.take().front() == "keyboard 1 42 1");
    devices.input.text("1");
    CHECK(devices.take().front() == "keyboard 1 2 1");
    tap(KEY_CAPSLOCK);
    devices.input.text("a");
    CHECK(devices.take() == plain);
}

TEST_CASE("input devices need the kernel to make them") {
    if (access("/dev/uinput", F_OK) == 0) test::skip("needs a machine without /dev/uinput");
    try {
        make_uinput_input(100, 100);
        FAIL("made without /dev/uinput");
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::unsupported);
    }
}
