// The program itself: real media, a real X server, the real agent; a played gateway.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "instance-agent/agent/agent_sockets.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/processes/process.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/streamer/client/headless_client.h"
#include "tests/streamer/display/x_server.h"
#include "tests/streamer/pads/pad_program.h"
#include "tests/streamer/session/played_gateway.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace svc::streamer;
using namespace std::chrono_literals;

namespace {

struct Instance {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "streamer-program-"};
    test::PlayedGateway gateway;
    std::filesystem::path run() const { return directory.path() / "run"; }
    std::filesystem::path data() const { return directory.path() / "data"; }

    Instance() {
        make_directories(run());
        make_directories(data());
        write_file_atomically(
            data() / "userdata",
            Json::object({{"display_width", 320},
                          {"display_height", 240},
                          {"fps", 30},
                          {"streaming", Json::object({{"session_id", "s1"},
                                                      {"control_url", gateway.url()},
                                                      {"fingerprint", gateway.fingerprint()}})}})
                .dump());
    }
    // The sample that draws the display of a guest without X.
    Child draw() const {
        SpawnOptions options;
        options.arguments = {SVC_GUEST_DISPLAY, "--socket", run() / "display.unix"};
        options.descriptors = {{2, 2}};
        return Child(options);
    }
    Child start(const std::vector<std::string>& more, int errors = 2) const {
        SpawnOptions options;
        options.arguments = {SVC_STREAMER_PROGRAM,
                             "--user-data",
                             data() / "userdata",
                             "--session",
                             data() / "session.json",
                             "--api-socket",
                             run() / "api.unix",
                             "--guest-socket",
                             run() / "guest.unix",
                             "--channels-dir",
                             run(),
                             "--frame-socket",
                             run() / "frames.unix",
                             "--display-socket",
                             run() / "display.unix",
                             "--capture-socket",
                             run() / "screen.unix",
                             "--gamepad-dir",
                             run() / "input"};
        options.arguments.insert(options.arguments.end(), more.begin(), more.end());
        // Looking through all plugins takes seconds: one of the programs does it for those that follow.
        static const TemporaryDirectory plugins(std::filesystem::temp_directory_path(), "streamer-plugins-");
        options.environment = {"PATH=/usr/bin:/bin", "HOME=" + directory.path().string(),
                               "GST_REGISTRY=" + (plugins.path() / "registry").string()};
        for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"})
            if (const char* value = std::getenv(name))
                options.environment.push_back(std::string(name) + "=" + value);
        options.descriptors = {{errors, 2}};
        return Child(options);
    }
    int outcome(Child& child) const {
        const auto status = child.wait_for(patience);
        return status ? status->code : -1;
    }
};

// Goes between the played gateway and a client without a screen.
struct Client {
    explicit Client(Instance& at)
        : instance(at),
          client({}, {[this](const std::string& sdp) { say("answer", "sdp", sdp, ""); },
                      [this](const std::string& candidate, unsigned line) {
                          say("candidate", "candidate", candidate,
                              ",\"sdpMid\":null,\"sdpMLineIndex\":" + std::to_string(line));
                      }}) {}
    void say(const std::string& type, const std::string& key, const std::string& text,
             const std::string& more) {
        instance.gateway.send(R"({"client_id":"c1","type":")" + type + "\",\"" + key + "\":\"" +
                              base64_encode(text) + "\"" + more + "}");
    }
    void join(bool first = true) {
        if (first) instance.gateway.await("ctl:status");
        instance.gateway.send(
            R"({"type":"ctl:client-joined","client_id":"c1","stun_servers":[],"screen":{"width":400,"height":301}})");
        instance.gateway.send(R"({"client_id":"c1","type":"discover"})");
        instance.gateway.await("resp:discover");
        instance.gateway.on_message([this](const Json& message) {
            if (message.at("type") == Json("candidate"))
                client.add_candidate(base64_decode(message.at("candidate").as_string()),
                                     static_cast<unsigned>(message.at("sdpMLineIndex").as_int()));
        });
        instance.gateway.send(R"({"client_id":"c1","type":"settings","api_version":2,"data_channels":[]})");
        client.take_offer(base64_decode(instance.gateway.await("offer").at("sdp").as_string()));
    }
    ~Client() { instance.gateway.on_message({}); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    Instance& instance;
    HeadlessClient client;
};

// The pointer moves too, where the screen becomes smaller.
std::string first_key(test::XListener& listener) {
    for (;;)
        if (const std::string note = listener.notes(1)[0]; !note.starts_with("move")) return note;
}

// What svc-guest-display draws on a screen of 400x302.
constexpr Colour background{0x20, 0x30, 0x60}, black{0, 0, 0}, finger{0xe0, 0x20, 0x20},
    other_finger{0xf0, 0xa0, 0x20}, pointer{0x20, 0xc0, 0x40}, key{0xf0, 0xd0, 0x20}, button{0, 0xe0, 0xe0},
    text{0xe0, 0, 0xe0}, pad{0xff, 0xff, 0xff};
constexpr std::pair key_field{50, 18}, button_field{150, 18}, text_field{250, 18}, pad_field{350, 18};

bool shows(Client& client, std::pair<int, int> place, Colour wanted) {
    const auto as_wished = [&](const ClientPicture& picture) {
        if (picture.width != 400 || picture.height != 302) return false;
        const Colour seen = picture.at(place.first, place.second);
        for (std::size_t i = 0; i < seen.size(); ++i)
            if (std::abs(int{seen[i]} - int{wanted[i]}) > 40) return false;
        return true;
    };
    return client.client.wait_picture(as_wished, patience);
}

}  // namespace

TEST_CASE("a streamer ends at once where nobody streams") {
    Instance instance;
    write_file_atomically(instance.data() / "userdata", "something else");
    Child child = instance.start({});
    CHECK(instance.outcome(child) == 0);
    std::filesystem::remove(instance.data() / "userdata");
    Child other = instance.start({});
    CHECK(instance.outcome(other) == 0);
    Child wrong = instance.start({"--what"});
    CHECK(instance.outcome(wrong) == 2);
}

TEST_CASE("a streamer that waits for its display can be ended") {
    Instance instance;
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const FileDescriptor from(ends[0]);
    FileDescriptor to(ends[1]);
    Child child = instance.start({"--display", ":65000"}, to.get());
    to.reset();  // so that its end is seen
    std::string log;
    for (char c = 0; log.find("waiting for the display") == log.npos && read(from.get(), &c, 1) == 1;)
        log += c;
    child.kill(SIGTERM);
    CHECK(instance.outcome(child) == 0);
}

TEST_CASE("a client sees the display and types on it") {
    Instance instance;
    const test::XServer server;
    test::XListener listener(server.display());
    start_media();
    Child child = instance.start({"--display", server.display()});
    Client client(instance);
    client.join();
    REQUIRE(client.client.wait_connected(patience));
    const Json began = instance.gateway.await("ctl:stream");
    CHECK(began.at("active") == Json(true));
    CHECK(began.at("video_encoder").as_string().ends_with("enc"));
    REQUIRE(client.client.wait_frames(3, patience));
    CHECK(listener.screen_size() == std::pair(400, 302));
    REQUIRE(client.client.wait_channel("control", patience));
    client.client.send("control", false, R"({"type":"input::key","data":{"code":4,"pressed":true}})");
    CHECK(first_key(listener) == "press 38 a");
    client.client.send("control", false, R"({"type":"stream::disconnect","data":{}})");
    CHECK(instance.gateway.await("ctl:stream").at("active") == Json(false));
    CHECK(first_key(listener) == "release 38");
    child.kill(SIGTERM);
    CHECK(instance.outcome(child) == 0);
}

TEST_CASE("a client beside an X display has gamepads without uinput as long as it is there") {
    if (access("/dev/uinput", F_OK) == 0) test::skip("needs a machine without /dev/uinput");
    Instance instance;
    const test::XServer server;
    start_media();
    Child child = instance.start({"--display", server.display()});
    {
        Client client(instance);
        client.join();
        REQUIRE(client.client.wait_channel("control", patience));
        client.client.send("control", false,
                           R"({"type":"input::gamepad-button","data":{"id":3,"index":0,"pressed":true}})");
        const auto event = instance.run() / "input/event0";
        test::eventually("the gamepad is there", [&] { return std::filesystem::exists(event); });
        test::PadProgram program(event);
        client.client.send("control", false,
                           R"({"type":"input::gamepad-axes","data":{"id":3,"index":0,"value":-1}})");
        CHECK(program.report() == "3 0 -32767;");
        client.client.send("control", false, R"({"type":"stream::disconnect","data":{}})");
        CHECK(program.report() == "gone");
    }
    child.kill(SIGTERM);
    CHECK(instance.outcome(child) == 0);
    CHECK(std::filesystem::is_empty(instance.run() / "input"));
}

TEST_CASE("a client sees what a program of the guest draws, and that program what the client does") {
    if (access("/dev/uinput", F_OK) == 0)
        test::skip("needs a machine without /dev/uinput: the input is automatic");
    Instance instance;
    start_media();
    Child guest = instance.draw();  // it waits for the streamer
    Child child = instance.start({"--display", "none"});
    {
        Client client(instance);
        client.join();
        REQUIRE(client.client.wait_channel("control", patience));
        const auto say = [&](const std::string& type, const std::string& data) {
            client.client.send("control", false,
                               "{\"type\":\"input::" + type + "\",\"data\":{" + data + "}}");
        };
        CHECK(shows(client, {200, 150}, background));
        say("touch-start", R"("id":0,"x":100,"y":150)");
        say("touch-start", R"("id":9,"x":200,"y":150)");
        say("mouse-move", R"("x":300,"y":150)");
        CHECK(shows(client, {100, 150}, finger));
        CHECK(shows(client, {200, 150}, other_finger));
        CHECK(shows(client, {300, 150}, pointer));
        say("touch-move", R"("id":9,"x":200,"y":210)");
        CHECK(shows(client, {200, 210}, other_finger));
        CHECK(shows(client, {200, 150}, background));
        CHECK(shows(client, key_field, black));
        say("key", R"("code":4,"pressed":true)");
        say("mouse-button", R"("button":1,"pressed":true)");
        say("ime-event", R"("type":1,"data":{"text":"abc"})");
        say("gamepad-button", R"("id":1,"index":0,"pressed":true)");
        CHECK(shows(client, key_field, key));
        CHECK(shows(client, button_field, button));
        CHECK(shows(client, text_field, text));
        CHECK(shows(client, pad_field, pad));
        client.client.send("control", false, R"({"type":"stream::disconnect","data":{}})");
        CHECK(instance.gateway.await("ctl:stream").at("active") == Json(true));
        CHECK(instance.gateway.await("ctl:stream").at("active") == Json(false));
    }
    Client next(instance);
    next.join(false);
    CHECK(shows(next, {100, 150}, background));  // the fingers went with their client
    for (const auto& field : {key_field, button_field, pad_field}) CHECK(shows(next, field, black));
    guest.kill(SIGKILL);
    CHECK(shows(next, {300, 150}, pointer));  // the last picture stays
    const Child another = instance.draw();
    CHECK(shows(next, {300, 150}, background));
    child.kill(SIGTERM);
    CHECK(instance.outcome(child) == 0);
}

TEST_CASE("a client learns at once that the streamer or the display is gone") {
    Instance instance;
    std::optional<test::XServer> server(std::in_place);
    start_media();
    Child child = instance.start({"--display", server->display()});
    Client client(instance);
    client.join();
    REQUIRE(client.client.wait_frames(3, patience));
    REQUIRE(client.client.wait_channel("control", patience));
    int status = 0;
    SECTION("stopped") {
        child.kill(SIGTERM);
    }
    SECTION("its X server has gone") {
        status = 1;
        server.reset();
    }
    std::optional<ClientMessage> last = client.client.next_message(patience);
    while (last && last->data.find(R"("type":"error")") == std::string::npos)
        last = client.client.next_message(patience);
    REQUIRE(last);
    CHECK(last->data.find("stopped") != std::string::npos);
    CHECK(client.client.wait_abort(patience));
    CHECK(client.client.wait_closed(patience));
    CHECK(instance.outcome(child) == status);
}

TEST_CASE("a streamer ends with its session") {
    Instance instance;
    const test::XServer server;
    Child child = instance.start({"--display", server.display()});
    instance.gateway.await("ctl:status");
    instance.gateway.send(R"({"type":"ctl:terminate","reason":"deleted"})");
    CHECK(instance.outcome(child) == 0);
}

TEST_CASE("a streamer ends at once where the platform of its instance does not stream") {
    Instance instance;
    write_file_atomically(instance.data() / "session.json",
                          R"({"instance_id":"i","token":"t","platform":"null"})");
    Child child = instance.start({"--display", "none"});
    CHECK(instance.outcome(child) == 0);
}

TEST_CASE("a streamer that cannot work tells why") {
    if (access("/dev/uinput", F_OK) == 0) test::skip("needs a machine without /dev/uinput");
    Instance instance;
    const test::XServer server;
    Child child = instance.start({"--display", server.display(), "--input", "uinput"});
    CHECK(instance.outcome(child) == 1);
    instance.gateway.await("ctl:register");
    const Json status = instance.gateway.await("ctl:status");
    CHECK(status.at("status") == Json("error"));
    CHECK(status.at("message") == Json("this machine has no /dev/uinput"));
}
