// The C library's display connection against a streamer of the test's own, which may say anything.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "instance-agent/libsvcguest/display_wire.h"
#include "instance-agent/libsvcguest/svcguest.h"
#include "libsvc/base/file.h"

using namespace svc;

namespace {

constexpr int longest_ms = 60'000;

template <class Message>
std::string bytes_of(const Message& message) {
    return {reinterpret_cast<const char*>(&message), sizeof(message)};
}
std::string kind_alone(std::uint32_t kind) {
    return bytes_of(kind);
}
std::string mode() {
    return bytes_of(wire_mode{WIRE_MODE, 64, 48, 160, 30, 1});
}
wire_input input_of(std::uint32_t type) {
    wire_input input{};
    input.kind = WIRE_INPUT;
    input.type = type;
    return input;
}

// A streamer that is played, and a program.
struct DisplayPlace {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-display-"};
    std::string path = (folder.path() / "display").string();
    FileDescriptor listener{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    FileDescriptor streamer;  // its end of the connection
    std::vector<std::string> told;
    svcguest_display* display = nullptr;

    DisplayPlace() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        REQUIRE(listen(listener.get(), 4) == 0);
        svcguest_display_handlers handlers{};
        handlers.mode = [](void* user, const svcguest_display_mode*) { note(user, "mode"); };
        handlers.released = [](void* user, std::uint32_t buffer) {
            note(user, "released " + std::to_string(buffer));
        };
        handlers.input = [](void* user, const svcguest_input* input) {
            note(user, "input " + std::to_string(input->type) + (input->pressed ? " pressed" : "") +
                           (input->text != nullptr ? std::string(" ") + input->text : ""));
        };
        handlers.disconnected = [](void* user, const char* reason) {
            note(user, std::string("disconnected: ") + reason);
        };
        display = svcguest_display_open(path.c_str(), &handlers, sizeof(handlers), this, nullptr);
        REQUIRE(display != nullptr);
        accept_program();
    }
    ~DisplayPlace() { svcguest_display_close(display); }
    DisplayPlace(const DisplayPlace&) = delete;
    DisplayPlace& operator=(const DisplayPlace&) = delete;

    static void note(void* user, const std::string& line) {
        static_cast<DisplayPlace*>(user)->told.push_back(line);
    }
    void accept_program() {
        streamer = FileDescriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        REQUIRE(streamer);
        CHECK(heard() == bytes_of(wire_hello{WIRE_HELLO, WIRE_VERSION}));
    }
    std::string heard() const {
        std::array<char, 256> packet{};
        const ssize_t size = recv(streamer.get(), packet.data(), packet.size(), 0);
        return {packet.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    }
    void say(const std::string& packet) const {
        REQUIRE(send(streamer.get(), packet.data(), packet.size(), MSG_NOSIGNAL) >= 0);
    }
    std::vector<std::string> dispatched() {
        told.clear();
        CHECK(svcguest_display_dispatch(display, longest_ms) > 0);
        return told;
    }
};

using Lines = std::vector<std::string>;
const std::string strange = "disconnected: the streamer sends what this library does not know";

}  // namespace

TEST_CASE("a display cannot be opened at a path that is too long") {
    int error = 0;
    CHECK(svcguest_display_open(std::string(500, 'x').c_str(), nullptr, 0, nullptr, &error) == nullptr);
    CHECK(error == -ENAMETOOLONG);
    svcguest_display_close(nullptr);
}

TEST_CASE("a display without handlers takes what comes") {
    DisplayPlace place;
    svcguest_display* const silent = svcguest_display_open(place.path.c_str(), nullptr, 0, nullptr, nullptr);
    REQUIRE(silent != nullptr);
    place.accept_program();
    place.say(mode());
    place.say(bytes_of(input_of(SVCGUEST_POINTER)));
    place.say(bytes_of(wire_turn{WIRE_RELEASE, 3, 1}));
    CHECK(svcguest_display_dispatch(silent, longest_ms) == 3);
    place.streamer.reset();
    CHECK(svcguest_display_dispatch(silent, longest_ms) == 1);
    svcguest_display_close(silent);
}

TEST_CASE("what a display library does not know ends the connection, and it looks for the next streamer") {
    wire_input bad_finger = input_of(SVCGUEST_TOUCH_DOWN), bad_key = input_of(SVCGUEST_KEY),
               bad_pad = input_of(SVCGUEST_PAD_BUTTON), bad_axis = input_of(SVCGUEST_PAD_AXIS),
               bad_value = input_of(SVCGUEST_PAD_AXIS);
    bad_finger.id = 10;
    bad_key.code = 0x300;
    bad_pad.id = 4;
    bad_axis.code = 6;
    bad_value.value = std::numeric_limits<float>::quiet_NaN();
    const Lines packets{
        "abc",
        kind_alone(4711),
        kind_alone(WIRE_HELLO),
        kind_alone(WIRE_MODE),
        mode() + "x",
        kind_alone(WIRE_RELEASE),
        bytes_of(wire_turn{WIRE_RELEASE, 0, 1}) + "x",
        kind_alone(WIRE_INPUT),
        bytes_of(input_of(0)),
        bytes_of(input_of(4711)),
        bytes_of(bad_finger),
        bytes_of(bad_key),
        bytes_of(bad_pad),
        bytes_of(bad_axis),
        bytes_of(bad_value),
        kind_alone(WIRE_TEXT) + std::string(WIRE_MAX_TEXT + 1, 'x'),
    };
    DisplayPlace place;
    for (const std::string& packet : packets) {
        INFO(packet.size());
        place.say(mode());
        CHECK(place.dispatched() == Lines{"mode"});
        place.say(packet);
        CHECK(place.dispatched() == Lines{strange});
        CHECK(place.heard().empty());
        pollfd time_to_connect{svcguest_display_fd(place.display), POLLIN, 0};
        REQUIRE(poll(&time_to_connect, 1, longest_ms) == 1);
        CHECK(svcguest_display_dispatch(place.display, 0) == 0);
        place.accept_program();
    }
}

TEST_CASE("nothing is taken from a streamer before its mode but a refusal") {
    DisplayPlace place;
    SECTION("input") {
        place.say(bytes_of(input_of(SVCGUEST_POINTER)));
        CHECK(svcguest_display_dispatch(place.display, 0) == 0);  // nobody was told that it was there
        CHECK(place.told.empty());
    }
    SECTION("refusal") {
        place.say(kind_alone(WIRE_REFUSED) + "not now");
        place.streamer.reset();
        CHECK(place.dispatched() == Lines{"disconnected: not now"});
    }
    SECTION("a long refusal") {
        place.say(kind_alone(WIRE_REFUSED) + std::string(WIRE_MAX_TEXT, 'x'));
        place.streamer.reset();
        CHECK(place.dispatched() == Lines{"disconnected: " + std::string(511, 'x')});
    }
}

TEST_CASE("a buffer comes back in its own turn alone") {
    DisplayPlace place;
    place.say(mode());
    place.dispatched();
    svcguest_pixels pixels{};
    REQUIRE(svcguest_display_new_buffer(place.display, 64, 48, SVCGUEST_RGBX, &pixels) == 0);
    wire_buffer wire{};
    const std::string told = place.heard();
    REQUIRE(told.size() == sizeof(wire));
    std::memcpy(&wire, told.data(), sizeof(wire));
    CHECK(wire.stride == 256);
    CHECK(wire.fourcc == SVCGUEST_RGBX);
    REQUIRE(svcguest_display_present(place.display, 0) == 0);
    wire_turn turn{};
    std::memcpy(&turn, place.heard().data(), sizeof(turn));
    for (const wire_turn& other :
         {wire_turn{WIRE_RELEASE, 0, turn.turn + 1}, wire_turn{WIRE_RELEASE, 9, turn.turn},
          wire_turn{WIRE_RELEASE, 1, turn.turn}})
        place.say(bytes_of(other));
    CHECK(place.dispatched().empty());
    CHECK(svcguest_display_present(place.display, 0) == -EBUSY);
    place.say(bytes_of(wire_turn{WIRE_RELEASE, 0, turn.turn}));
    CHECK(place.dispatched() == Lines{"released 0"});
    CHECK(svcguest_display_present(place.display, 0) == 0);
}

TEST_CASE("a streamer that does not read costs pictures, not time") {
    DisplayPlace place;
    place.say(mode());
    place.dispatched();
    svcguest_pixels pixels{};
    REQUIRE(svcguest_display_new_buffer(place.display, 64, 48, SVCGUEST_RGBA, &pixels) == 0);
    int result = 0;
    for (int i = 0; i < 10'000 && result == 0; ++i) {
        result = svcguest_display_present(place.display, 0);
        if (result == 0) place.say(bytes_of(wire_turn{WIRE_RELEASE, 0, static_cast<std::uint32_t>(i) + 1}));
        if (result == 0) svcguest_display_dispatch(place.display, longest_ms);
    }
    CHECK(result == -EAGAIN);
}

TEST_CASE("a text of the client's has all its bytes") {
    DisplayPlace place;
    place.say(mode());
    place.say(kind_alone(WIRE_TEXT) + "gr\u00fc\u00dfe");
    CHECK(place.dispatched() == Lines{"mode", "input 9 gr\u00fc\u00dfe"});
    place.say(kind_alone(WIRE_TEXT) + std::string(WIRE_MAX_TEXT, 'x'));
    CHECK(place.dispatched() == Lines{"input 9 " + std::string(WIRE_MAX_TEXT, 'x')});
}
