// The client for scripts, against the agent's own socket and devices.
#include "instance-agent/agent/ctl/ctl.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "instance-agent/agent/agent_sockets.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/model/instances/instance.h"
#include "tests/agent/camera/jpeg_maker.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/support/eventually.h"

using namespace svc;
using Catch::Matchers::Contains;

namespace {

using Words = std::vector<std::string>;

struct Outcome {
    int status = 0;
    std::string out, err;
    Json json() const { return Json::parse(out); }
};

class CtlPlace {
  public:
    CtlPlace() : directory_(std::filesystem::temp_directory_path(), "ctl-test-") {
        options.session = path() / "data/session.json";
        options.api_socket = path() / "run/api.unix";
        options.guest_socket = path() / "run/guest.unix";
        options.automotive = agent::Automotive::yes;
        make_directories(path() / "data");
    }
    const std::filesystem::path& path() const { return directory_.path(); }
    std::string write(const std::string& name, std::string_view text) const {
        write_file_atomically(path() / name, text);
        return (path() / name).string();
    }
    Outcome run(Words words, std::string_view input = "") const {
        words.insert(words.begin(), {"--api-socket", options.api_socket.string()});
        const FileDescriptor in = open_file(write("in", input), O_RDONLY);
        const FileDescriptor out = open_file(path() / "out", O_WRONLY | O_CREAT | O_TRUNC);
        const FileDescriptor err = open_file(path() / "err", O_WRONLY | O_CREAT | O_TRUNC);
        const int status = agent::run_ctl(words, {in.get(), out.get(), err.get()});
        return {status, read_file(path() / "out"), read_file(path() / "err")};
    }
    // Must succeed.
    std::string ask(const Words& words, std::string_view input = "") const {
        const Outcome done = run(words, input);
        INFO(done.err);
        REQUIRE(done.status == 0);
        CHECK(done.err.empty());
        return done.out;
    }
    Json show(const Words& words) const { return Json::parse(ask(words)); }

    agent::Options options;

  private:
    TemporaryDirectory directory_;
};

struct Agent : CtlPlace {
    agent::AgentSockets interfaces{options, false};
};

}  // namespace

TEST_CASE_METHOD(Agent, "ctl: a place is set and read back by a guest") {
    const Outcome early = run({"location", "set", "1", "2"});
    CHECK(early.status == 1);
    CHECK(early.err == "svc-agent: Location updates are not enabled\n");
    CHECK(ask({"location", "enable"}).empty());
    CHECK(show({"location", "show"}).at("enabled").as_bool());
    ask({"location", "set", "-33.85", "151.2", "--altitude", "-4", "--accuracy=3", "--time",
         "1700000000000"});
    test::GuestClient guest(options.guest_socket);
    guest.hello();
    const Json fix = guest.ask(R"({"id":2,"op":"location.get"})");
    CHECK(fix.at("latitude").as_double() == -33.85);
    CHECK(fix.at("altitude").as_double() == -4);
    CHECK(fix.at("horizontal_accuracy").as_double() == 3);
    CHECK(run({"location", "set", "91", "0"}).status == 1);
    ask({"location", "disable"});
    CHECK_FALSE(show({"location", "show"}).at("enabled").as_bool());
}

TEST_CASE_METHOD(Agent, "ctl: places are fed a line each, until one is wrong") {
    ask({"location", "enable"});
    const std::string rest = R"(,"longitude":2,"altitude":0,"speed":0,"bearing":0})";
    ask({"location", "feed"}, R"({"latitude":1)" + rest + "\n\n" + R"({"latitude":7)" + rest);
    test::GuestClient guest(options.guest_socket);
    guest.hello();
    CHECK(guest.ask(R"({"id":2,"op":"location.get"})").at("latitude").as_double() == 7);
    const Outcome wrong = run({"location", "feed"}, R"({"latitude":100)" + rest + "\n");
    CHECK(wrong.status == 1);
    CHECK_THAT(wrong.err, Contains("latitude"));
    CHECK(run({"location", "feed"}, "nonsense\n").status == 1);
    CHECK(run({"location", "feed"}, std::string(100'000, ' ')).status == 1);
}

TEST_CASE_METHOD(Agent, "ctl: a picture comes from a file or standard input, and goes") {
    const std::string image = test::plain_jpeg(640, 480, 0xFF0000FF);
    CHECK(run({"camera", "image", write("a.jpg", image)}).status == 1);
    CHECK_THAT(ask({"camera", "enable"}), Contains("video_stream_socket"));
    ask({"camera", "image", write("a.jpg", image)});
    CHECK(show({"camera", "show"}).at("data_available").as_bool());
    ask({"camera", "clear"});
    CHECK_FALSE(show({"camera", "show"}).at("data_available").as_bool());
    ask({"camera", "image", "-"}, image);
    CHECK(show({"camera", "show"}).at("data_available").as_bool());
    const Outcome absent = run({"camera", "image", (path() / "absent").string()});
    CHECK(absent.status == 1);
    CHECK_THAT(absent.err, Contains("absent"));
}

TEST_CASE_METHOD(Agent, "ctl: video is written whole, by one at a time") {
    ask({"camera", "stream"}, std::string(1280 * 720 * 4, 'x'));
    CHECK(show({"camera", "show"}).at("enabled").as_bool());
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const FileDescriptor in(ends[0]);
    const FileDescriptor writer(ends[1]);
    const FileDescriptor null = open_file("/dev/null", O_WRONLY);
    int status = -1;
    std::jthread blocked([&] {
        status = agent::run_ctl({"--api-socket", options.api_socket, "camera", "stream"},
                                {in.get(), null.get(), null.get()});
    });
    write_all(writer.get(), std::string(8U << 20, 'x'));  // more than a pipe holds: it is under way
    ask({"camera", "disable"});
    blocked.join();
    CHECK(status == 1);
}

TEST_CASE_METHOD(Agent, "ctl: a used sensor is set") {
    ask({"sensors", "enable"});
    CHECK(run({"sensors", "set", "light", "100"}).status == 1);
    test::GuestClient guest(options.guest_socket);
    guest.hello();
    guest.ask(R"({"id":2,"op":"sensors.activate","type":"acceleration","on":true})");
    ask({"sensors", "set", "acceleration", "0", "-9.81", "1e-2"});
    CHECK(show({"sensors", "show"}).at("active_sensors").as_array().size() == 1);
    for (const Words& wrong : {Words{"acceleration", "1", "2"},
                               {"acceleration", "1", "2", "3", "4"},
                               {"smell", "1"},
                               {"light", "x"}}) {
        Words words{"sensors", "set"};
        words.insert(words.end(), wrong.begin(), wrong.end());
        CHECK(run(words).status == 2);
    }
}

TEST_CASE_METHOD(Agent, "ctl: a trace is stopped into a file or standard output") {
    ask({"trace", "start"});
    CHECK(run({"trace", "start"}).status == 1);
    CHECK(show({"trace", "show"}).at("active").as_bool());
    const std::string file = (path() / "trace").string();
    ask({"trace", "stop", "--output", file});
    CHECK_FALSE(read_file(file).empty());
    CHECK(run({"trace", "stop"}).status == 1);
    ask({"trace", "start"});
    CHECK_FALSE(ask({"trace", "stop", "--output=-"}).empty());
    ask({"trace", "start"});
    CHECK(std::filesystem::exists(show({"trace", "stop"}).at("path").as_string()));
}

TEST_CASE_METHOD(Agent, "ctl: a vehicle property is set by its number or name") {
    ask({"vhal", "set", "PERF_VEHICLE_SPEED", "12.5"});
    const Json value = show({"vhal", "get", "0x11600207"});
    CHECK(value.at("float_values").as_array().at(0).as_double() == 12.5);
    ask({"vhal", "set", "INFO_MAKE", "--", "--make"});
    CHECK(show({"vhal", "get", "INFO_MAKE"}).at("string_value").as_string() == "--make");
    ask({"vhal", "set", "NIGHT_MODE", "true"});
    CHECK(show({"vhal", "get", "NIGHT_MODE", "0"}).at("int32_values").as_array().at(0).as_int() == 1);
    CHECK(show({"vhal", "configs", "NIGHT_MODE", "INFO_MAKE"}).as_array().size() == 2);
    CHECK(run({"vhal", "set", "NIGHT_MODE", "dark"}).status == 2);
    CHECK(run({"vhal", "get", "NO_SUCH_THING"}).status == 2);
    CHECK(run({"vhal", "get", "0x21400777"}).status == 1);
}

TEST_CASE_METHOD(Agent, "ctl: the phone gets a SIM, a message and a call, and shows what the guest does") {
    ask({"telephony", "set", "operator", "12345", "signal", "30", "number", "+1"});
    CHECK(show({"telephony", "show"}).at("operator") == Json("12345"));
    CHECK(show({"telephony", "show"}).at("signal") == Json(30));
    CHECK(show({"telephony", "sms", "*1#", "-1 for you"}).at("id") == Json(1));
    ask({"telephony", "sms", "--", "7", "--so"});
    CHECK(show({"telephony", "messages"}).as_array().at(1).at("message") == Json("--so"));
    ask({"telephony", "clear"});
    CHECK(show({"telephony", "messages"}) == Json::array());
    const Outcome early = run({"telephony", "call", "7"});
    CHECK(early.status == 1);
    CHECK(early.err == "svc-agent: Telephony is not active\n");
    test::GuestClient guest(options.guest_socket);
    guest.hello();
    guest.ask(R"({"id":2,"op":"telephony.subscribe"})");
    CHECK(show({"telephony", "call", "7"}).at("id") == Json(1));
    ask({"telephony", "change", "1", "active"});
    ask({"telephony", "hang-up", "1"});
    CHECK(show({"telephony", "calls"}).as_array().at(0).at("end_reason") == Json("remote"));
    CHECK(run({"telephony", "change", "1", "held"}).status == 1);
    for (const Words& wrong : {Words{"set", "signal", "strong"},
                               {"set", "colour", "red", "sim", "ready"},
                               {"set", "sim"},
                               {"set", "sim", "ready", "number"},
                               {"hang-up", "one"},
                               {"sms", "7"}}) {
        Words words{"telephony"};
        words.insert(words.end(), wrong.begin(), wrong.end());
        CHECK(run(words).status == 2);
    }
}

TEST_CASE_METHOD(Agent, "ctl: any request can be written out") {
    CHECK(show({"request", "GET", "/1.0"}).at("api_version").as_string() == "1.0");
    ask({"request", "POST", "/1.0/location", R"({"enable":true})"});
    ask({"request", "POST", "/1.0/location", "-"}, R"({"enable":false})");
    CHECK_THAT(ask({"request", "GET", "/1.0/metrics"}), Contains("runtime_"));
    const Outcome unknown = run({"request", "GET", "/2.0"});
    CHECK(unknown.status == 1);
    CHECK(unknown.err == "svc-agent: API endpoint does not exist\n");
    CHECK(show({"platform", "show"}).at("name").as_string() == "null");
    CHECK(run({"platform", "set", "rtc_log", "true"}).status == 1);
    CHECK(run({"platform", "reset", "rtc_log"}).status == 1);
}

TEST_CASE_METHOD(CtlPlace, "ctl: wrong usage is told before the agent is asked") {
    for (const Words& words :
         std::vector<Words>{{},
                            {"location"},
                            {"location", "jump"},
                            {"location", "set", "1"},
                            {"camera", "image"},
                            {"location", "set", "north", "2"},
                            {"location", "set", "1", "2", "--colour", "red"},
                            {"location", "set", "1", "2", "--speed"},
                            {"location", "set", "1", "2", "--time", "x"},
                            {"location", "set", "1", "2", "--speed", "1", "--speed", "2"},
                            {"request", "FETCH", "/1.0"},
                            {"request", "GET", "1.0"},
                            {"request", "GET"}}) {
        const Outcome wrong = run(words);
        CHECK(wrong.status == 2);
        CHECK(wrong.err.starts_with("svc-agent: "));
    }
    CHECK(run({"platform", "set", "a", "1", "b"}).err == "svc-agent: b: a value is missing\n");
}

TEST_CASE_METHOD(CtlPlace, "ctl: help is of all commands, or of one noun's") {
    CHECK_THAT(ask({"--help"}), Contains("vhal set") && Contains("location set"));
    for (const Words& words :
         std::vector<Words>{{"vhal", "--help"}, {"vhal", "-h"}, {"vhal", "set", "--help"}})
        CHECK_THAT(ask(words), Contains("vhal set") && !Contains("location set"));
    CHECK(run({"nope", "--help"}).status == 2);
    CHECK(run({"vhal", "get", "help"}).status == 2);  // a property's name
}

TEST_CASE("ctl: items of the platform are set together") {
    CtlPlace place;
    AgentSession session;
    session.instance_id = "i";
    session.token = "t";
    session.config.platform = "webrtc";
    place.write("data/session.json", session.to_json().dump());
    const agent::AgentSockets interfaces(place.options, false);
    const std::string least = "stream_video_bitrate_min_kbps", most = "stream_video_bitrate_max_kbps";
    CHECK(place.run({"platform", "set", least, "9000"}).status == 1);
    place.ask({"platform", "set", least, "9000", most, "9500"});
    CHECK(place.show({"platform", "show"}).at("config").at(least) == Json(9000));
    place.ask({"platform", "reset", least, most});
    CHECK(place.show({"platform", "show"}).at("config").at(least) == Json(2500));
}

TEST_CASE_METHOD(CtlPlace, "ctl: without an agent the status is 3, from the program too") {
    CHECK(run({"location", "show"}).status == 3);
    const auto result = run_command(
        {SVC_AGENT_PROGRAM, "ctl", "--api-socket=" + options.api_socket.string(), "camera", "show"},
        test::long_wait);
    CHECK(result.status.code == 3);
    CHECK_THAT(result.errors, Contains("cannot reach"));
}
