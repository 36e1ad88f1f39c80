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
#include "tests/streamer/session/played_gateway.h"
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
                             "--capture-socket",
                             run() / "screen.unix"};
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
    void join() {
        instance.gateway.await("ctl:status");
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
