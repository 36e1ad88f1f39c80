#include "instance-agent/streamer/pads/pad_server.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "instance-agent/gamepad/pad_wire.h"
#include "instance-agent/streamer/input/pad_devices.h"
#include "libsvc/base/error.h"
#include "tests/streamer/pads/pad_program.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;
using test::PadProgram;

namespace {

constexpr int south = 0, stick_x = 0, trigger = 4;  // indexes of a browser

struct Guest {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "pads-"};
    std::filesystem::path folder = directory.path() / "input";
    std::optional<PadDevices> pads{served_pads(folder)};

    std::filesystem::path event(int number) const { return folder / ("event" + std::to_string(number)); }
    bool has(int number) const { return std::filesystem::exists(event(number)); }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
    }
    pad_description description(int number) const {
        pad_description pad{};
        const std::string bytes = read_file(folder / (PAD_PREFIX + std::to_string(number)));
        REQUIRE(bytes.size() == sizeof(pad));
        bytes.copy(reinterpret_cast<char*>(&pad), sizeof(pad));
        return pad;
    }
    void tap() {
        pads->button(0, south, true);
        pads->button(0, south, false);
    }
};

}  // namespace

TEST_CASE("a gamepad of a guest is there once it is used") {
    Guest guest;
    CHECK(guest.files() == 0);
    guest.pads->button(2, south, true);
    CHECK(guest.has(0));
    CHECK_FALSE(guest.has(1));
    const pad_description pad = guest.description(0);
    CHECK(std::string(pad.name) == "svc stream gamepad 3");
    CHECK((pad.down[BTN_SOUTH / 8] >> BTN_SOUTH % 8 & 1) == 1);
    guest.pads->remove_all();
    CHECK(guest.files() == 0);
}

TEST_CASE("programs get what changes on a gamepad") {
    Guest guest;
    guest.pads->axis(0, stick_x, 0.5);
    PadProgram program(guest.event(0)), other(guest.event(0));
    guest.pads->axis(0, stick_x, 0.5);  // as before
    guest.pads->axis(0, trigger, 1);
    CHECK(program.report() == "3 2 255;");
    CHECK(other.report() == "3 2 255;");
    guest.pads->button(0, south, true);
    guest.pads->button(0, south, false);
    CHECK(program.report() == "1 304 1;");
    CHECK(program.report() == "1 304 0;");
    CHECK(guest.description(0).absolute[ABS_X].value == 16384);
}

TEST_CASE("a gamepad gets the lowest number that no device has") {
    Guest guest;
    write_file_atomically(guest.event(0), "a device of the guest's own");
    guest.pads->button(0, south, true);
    guest.pads->button(1, south, true);
    CHECK(guest.has(2));
    PadProgram first(guest.event(1)), second(guest.event(2));
    guest.pads->button(1, south, false);
    CHECK(second.report() == "1 304 0;");
    CHECK(first.has_nothing());
    guest.pads->remove_all();
    CHECK(first.report() == "gone");
    CHECK(guest.files() == 1);
}

TEST_CASE("a new streamer removes the gamepads of one that was killed") {
    Guest guest;
    guest.pads->button(0, south, true);
    PadProgram program(guest.event(0));
    auto killed = std::exchange(guest.pads, PadDevices(served_pads(guest.folder)));
    CHECK(guest.files() == 0);
    guest.pads->button(0, south, true);
    killed.reset();
    CHECK(program.report() == "gone");
    PadProgram again(guest.event(0));
    guest.pads->button(0, south, false);
    CHECK(again.report() == "1 304 0;");
}

TEST_CASE("a program that does not read is told that it has lost events") {
    Guest guest;
    guest.tap();
    PadProgram slow(guest.event(0)), other(guest.event(0));
    constexpr int taps = 1000;
    for (int i = 0; i < taps; ++i) {
        guest.tap();
        CHECK(other.report() == "1 304 1;");
        CHECK(other.report() == "1 304 0;");
    }
    int reports = 0;
    std::string report;
    while ((report = slow.report()).rfind("1 304", 0) == 0) ++reports;
    CHECK(reports < taps);
    CHECK(report == "0 3 0;");
    guest.tap();
    CHECK(slow.report() == "1 304 1;");
}

TEST_CASE("times are those of the clock that a program asks for") {
    Guest guest;
    guest.tap();
    PadProgram program(guest.event(0));
    CHECK(program.write(PAD_ORDER, PAD_CLOCK, CLOCK_MONOTONIC));
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    eventually("the times are monotonic", [&] {
        guest.tap();
        program.report();
        program.report();
        return program.last().input_event_sec < now.tv_sec + 3600;
    });
    CHECK(program.last().input_event_sec >= now.tv_sec);
}

TEST_CASE("a gamepad that one program has grabbed is silent for others") {
    Guest guest;
    guest.tap();
    std::optional<PadProgram> owner(guest.event(0));
    PadProgram other(guest.event(0));
    CHECK(owner->write(PAD_ORDER, PAD_GRAB, 1));
    eventually("it is grabbed", [&] { return guest.description(0).grabbed == 1; });
    CHECK(other.write(PAD_ORDER, PAD_GRAB, 0));  // it is not the other's to give up
    guest.tap();
    CHECK(owner->report() == "1 304 1;");
    CHECK(other.has_nothing());
    owner.reset();
    eventually("it is free again", [&] { return guest.description(0).grabbed == 0; });
    guest.tap();
    CHECK(other.report() == "1 304 1;");
}

TEST_CASE("what programs write to a gamepad as to any device is ignored") {
    Guest guest;
    guest.tap();
    PadProgram program(guest.event(0));
    CHECK(program.write(EV_LED, LED_NUML, 1));
    CHECK(program.write(EV_FF, 0, 1, 5));  // part of a record
    guest.tap();
    CHECK(program.report() == "1 304 1;");
}

TEST_CASE("a program that breaks the rules of gamepads is disconnected") {
    const auto [code, value] =
        GENERATE(std::pair{9, 0}, std::pair<int, int>{PAD_CLOCK, 77}, std::pair<int, int>{PAD_GRAB, 2});
    Guest guest;
    guest.tap();
    PadProgram hostile(guest.event(0)), other(guest.event(0));
    CHECK(hostile.write(PAD_ORDER, code, value));
    CHECK(hostile.report() == "gone");
    guest.tap();
    CHECK(other.report() == "1 304 1;");
}

TEST_CASE("a program that writes without an end is not read any more") {
    Guest guest;
    guest.tap();
    PadProgram hostile(guest.event(0));
    constexpr int flood = 1'000'000;
    int written = 0;
    while (written < flood && hostile.write(EV_LED, 0, written)) ++written;
    CHECK(written < flood);
    guest.tap();
    CHECK(hostile.report() == "1 304 1;");
}

TEST_CASE("a gamepad has room for a number of programs") {
    Guest guest;
    guest.tap();
    std::vector<PadProgram> programs;
    for (std::size_t i = 0; i < ServedPad::most_listeners; ++i) programs.emplace_back(guest.event(0));
    guest.tap();
    CHECK(programs.back().report() == "1 304 1;");
    PadProgram surplus(guest.event(0));
    CHECK(surplus.report() == "gone");
    programs.pop_back();
    eventually("there is room again", [&] {
        PadProgram next(guest.event(0));
        guest.tap();
        return next.report() == "1 304 1;";
    });
}

TEST_CASE("a folder of gamepads whose path is too long is refused") {
    Guest guest;
    PadDevices pads(served_pads(guest.folder / std::string(100, 'x')));
    CHECK_THROWS_AS(pads.button(0, south, true), Error);
}
