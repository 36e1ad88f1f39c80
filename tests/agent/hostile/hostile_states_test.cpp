// Every route in every state, switches thrown from all sides, and no room to write.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <thread>

#include "tests/agent/camera/jpeg_maker.h"
#include "tests/agent/hostile/whole_agent.h"
#include "tests/support/small_disk.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string tracing_on = R"({"enable":true})", tracing_off = R"({"enable":false})";
const std::string place_update =
    R"({"latitude":1,"longitude":2,"altitude":3,"time":4,"speed":5,"bearing":6})";
const std::string sensor_update = R"([{"type":"light","value":1}])";
const std::string vehicle_update = R"({"prop_id":358614275,"area_id":49,"float_values":[17]})";

struct Case {
    std::string method, path, body;
    std::string disabled, enabled;  // what comes of it; "": the same
};

std::vector<Case> all_routes() {
    return {{"GET", "/1.0", "", "200", ""},
            {"PATCH", "/1.0", R"({"log_level":"error"})", "200", ""},
            {"GET", "/1.0/location", "", "200", ""},
            {"PATCH", "/1.0/location", place_update, "400 Location updates are not enabled", "200"},
            {"GET", "/1.0/camera", "", "200", ""},
            {"POST", "/1.0/camera/data", plain_jpeg(640, 480, 0), "400 Camera support is not enabled", "201"},
            {"POST", "/1.0/camera/data", "x", "400 Camera support is not enabled",
             "400 Image is not a valid JPEG"},
            {"POST", "/1.0/camera/data", "", "400 Camera support is not enabled", "400 Image data is empty"},
            {"DELETE", "/1.0/camera/data", "", "200", ""},
            {"GET", "/1.0/sensors", "", "200", ""},
            {"PATCH", "/1.0/sensors", sensor_update, "400 Sensor updates are not enabled",
             "400 Sensor 'light' is not active"},
            {"GET", "/1.0/tracing", "", "200", ""},
            {"GET", "/1.0/platform", "", "200", ""},
            {"PATCH", "/1.0/platform", R"({"config":{"rtc_log":true}})", "200", ""},
            {"DELETE", "/1.0/platform", R"({"configs":["rtc_log"]})", "200", ""},
            {"GET", "/1.0/vhal/358614275/49", "", "200", ""},
            {"PUT", "/1.0/vhal", vehicle_update, "200", ""},
            {"GET", "/1.0/vhal/config", "", "200", ""},
            {"GET", "/1.0/vhal/config/358614275", "", "200", ""},
            {"GET", "/1.0/telephony", "", "200", ""},
            {"PATCH", "/1.0/telephony", R"({"signal":50})", "200", ""},
            {"POST", "/1.0/telephony", "", "400 API endpoint does not exist", ""},
            {"GET", "/1.0/telephony/sms", "", "200", ""},
            {"POST", "/1.0/telephony/sms", R"({"number":"1","message":"x"})", "200", ""},
            {"DELETE", "/1.0/telephony/sms", "", "200", ""},
            {"GET", "/1.0/telephony/calls", "", "200", ""},
            {"POST", "/1.0/telephony/calls", R"({"number":"1"})", "400 Telephony is not active", ""},
            {"GET", "/1.0/telephony/calls/1", "", "400 Call 1 does not exist", ""},
            {"PATCH", "/1.0/telephony/calls/1", R"({"state":"active"})", "400 Call 1 does not exist", ""},
            {"DELETE", "/1.0/telephony/calls/1", "", "400 Call 1 does not exist", ""},
            {"OPTIONS", "/1.0", "", "400 API endpoint does not exist", ""}};
}

void check_routes(const WholeAgent& agent, bool enabled) {
    for (const Case& one : all_routes()) {
        INFO(one.method << " " << one.path << " " << enabled);
        const std::string& wanted = enabled && !one.enabled.empty() ? one.enabled : one.disabled;
        CHECK(agent.outcome(one.method, one.path, one.body) == wanted);
        CHECK(agent.outcome(one.method, one.path + "/", one.body) == wanted);
        for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"})
            (void)agent.outcome(method, one.path, "{");
    }
}

std::size_t video_sockets(const WholeAgent& agent) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(agent.sockets()))
        count += entry.path().filename().native().rfind("camera_video_stream_", 0) == 0 ? 1 : 0;
    return count;
}

// Takes what room there is on the disk of `directory`.
void fill_disk(const std::filesystem::path& directory) {
    const FileDescriptor file = open_file(directory / "filler", O_WRONLY | O_CREAT);
    const std::string block(4096, 'x');
    while (::write(file.get(), block.data(), block.size()) > 0) continue;
}

}  // namespace

TEST_CASE("every route answers in every state") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    check_routes(agent, false);
    agent.switch_all(true);
    check_routes(agent, true);
    agent.switch_all(false);
    check_routes(agent, false);
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("switches thrown from all sides leave everything whole") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    const std::string image = plain_jpeg(640, 480, 0);
    std::atomic<int> strange{0};
    const auto throw_switches = [&](const std::string& path, int number) {
        for (int i = 0; i < 40; ++i) {
            const auto reply = ask(
                agent.api(), http_request("POST", path, (i + number) % 2 == 0 ? tracing_on : tracing_off));
            const auto other =
                ask(agent.api(), path == "/1.0/camera" ? http_request("POST", path + "/data", image)
                                                       : http_request("GET", path));
            for (const int status : {reply.status, other.status})
                if (status != 200 && status != 201 && status != 400) ++strange;
        }
    };
    std::vector<std::jthread> threads;
    for (const char* path : {"/1.0/location", "/1.0/camera", "/1.0/sensors", "/1.0/tracing"})
        for (int number = 0; number < 2; ++number) threads.emplace_back(throw_switches, path, number);
    threads.clear();
    CHECK(strange == 0);
    for (const char* path : {"/1.0/location", "/1.0/camera", "/1.0/sensors"})
        CHECK(agent.outcome("POST", path, tracing_off) == "200");
    (void)agent.outcome("POST", "/1.0/tracing", tracing_off);
    for (const char* path : {"/1.0/location", "/1.0/camera", "/1.0/sensors"})
        CHECK_FALSE(agent.ask("GET", path).at("metadata").at("enabled").as_bool());
    CHECK_FALSE(agent.ask("GET", "/1.0/camera").at("metadata").at("data_available").as_bool());
    CHECK(video_sockets(agent) == 0);
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("a pipe in the place of a file holds up nobody") {
    const WholeAgent agent;
    REQUIRE(::mkfifo((agent.data() / "static_gps_position").c_str(), 0600) == 0);
    GuestClient guest(agent.guest_socket());
    guest.hello();
    CHECK(guest.ask(R"({"id":2,"op":"location.get"})").at("error").as_string() == "no fix");
    CHECK(agent.serves());
}

TEST_CASE("a full disk is told, changes nothing, and is survived") {
    on_small_disk(256U << 10, [](const std::filesystem::path& disk) {
        make_directories(disk / "data");
        const WholeAgent agent(disk / "data");
        const std::size_t before = open_descriptors();
        REQUIRE(agent.outcome("POST", "/1.0/tracing", tracing_on) == "200");
        for (int i = 0; i < 2000; ++i) (void)ask(agent.api(), http_request("GET", "/1.0/location"));
        fill_disk(disk);
        for (const char* path : {"/1.0/location", "/1.0/camera", "/1.0/sensors"}) {
            INFO(path);
            CHECK(agent.outcome("POST", path, tracing_on).substr(0, 4) == "500 ");
            CHECK_FALSE(agent.ask("GET", path).at("metadata").at("enabled").as_bool());
        }
        CHECK(agent.outcome("PATCH", "/1.0/platform", R"({"config":{"rtc_log":true}})").substr(0, 4) ==
              "500 ");
        CHECK(agent.ask("GET", "/1.0/platform").at("metadata").at("config").at("rtc_log") == Json(false));
        CHECK(agent.outcome("PATCH", "/1.0/telephony", R"({"signal":1})").substr(0, 4) == "500 ");
        CHECK(agent.ask("GET", "/1.0/telephony").at("metadata").at("signal") == Json(100));
        CHECK(agent.outcome("PATCH", "/1.0", R"({"log_level":"fatal"})") == "200");  // it is not kept
        CHECK(agent.outcome("POST", "/1.0/tracing", tracing_off) ==
              "500 Failed to write trace: No space left on device");
        CHECK(agent.ask("GET", "/1.0/tracing").at("metadata").at("active").as_bool());
        CHECK(video_sockets(agent) == 0);
        std::filesystem::remove(disk / "filler");
        agent.switch_all(false);
        for (const char* path : {"/1.0/location", "/1.0/camera", "/1.0/sensors"})
            CHECK(agent.outcome("POST", path, tracing_on) == "200");
        CHECK(agent.outcome("POST", "/1.0/camera", tracing_off) == "200");
        CHECK(agent.is_unharmed(before));
    });
}
