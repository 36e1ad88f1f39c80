// The control API's table: place, camera and sensors.
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/agent/camera/jpeg_maker.h"
#include "tests/agent/control/control_table.h"

using namespace svc;
using namespace svc::test;

namespace {

bool takes_connections(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

TEST_CASE("table: location is switched, and stays so when the agent begins anew") {
    Agent agent;
    CHECK(agent.metadata("/1.0/location") == Json::object({{"enabled", false}}));
    CHECK(agent.error("PATCH", "/1.0/location", place_of_munich) == "400 Location updates are not enabled");
    CHECK(agent.done("POST", "/1.0/location", enable(true)) == plain_success);
    agent.restart();
    CHECK(agent.metadata("/1.0/location") == Json::object({{"enabled", true}}));
    CHECK(agent.done("POST", "/1.0/location", enable(false)) == plain_success);
    CHECK(agent.metadata("/1.0/location") == Json::object({{"enabled", false}}));
}

TEST_CASE("table: a place reaches the guest with the accuracy of 20 m unless told otherwise") {
    const Agent agent;
    const auto guest = attach(agent);
    agent.done("POST", "/1.0/location", enable(true));
    CHECK(agent.done("PATCH", "/1.0/location", place_of_munich) == plain_success);
    Json fix = guest->ask(R"({"id":2,"op":"location.get"})");
    for (const auto& [field, value] : std::map<std::string, double>{{"latitude", 48.1173},
                                                                    {"longitude", 11.5167},
                                                                    {"altitude", 545},
                                                                    {"speed", 1.5},
                                                                    {"bearing", 90},
                                                                    {"horizontal_accuracy", 20},
                                                                    {"vertical_accuracy", 20}})
        CHECK(fix.at(field).as_double() == Approx(value));
    CHECK(fix.at("time").as_int() >= 1700000000000);
    CHECK(agent.done("PATCH", "/1.0/location",
                     R"({"format":"nmea","latitude":-4533.35,"longitude":1131.001,"altitude":0,"time":0,)"
                     R"("speed":0,"bearing":0,"horizontal_accuracy":5})") == plain_success);
    fix = guest->ask(R"({"id":3,"op":"location.get"})");
    CHECK(fix.at("latitude").as_double() == Approx(-45.5558333));
    CHECK(fix.at("horizontal_accuracy").as_double() == Approx(5));
}

TEST_CASE("table: the camera's socket is another at each toggle") {
    const Agent agent;
    CHECK(agent.done("GET", "/1.0/camera") ==
          R"({"type":"sync","status":"Success","status_code":200,"metadata":{"data_available":false,)"
          R"("enabled":false,"resolutions":[{"width":1280,"height":720},{"width":1920,"height":1080},)"
          R"({"width":640,"height":480}]}})");
    const Json first = agent.metadata("/1.0/camera", "POST", enable(true));
    CHECK(first.as_object().size() == 1);
    const std::string path = first.at("video_stream_socket").as_string();
    CHECK(takes_connections(path));
    CHECK(agent.metadata("/1.0/camera").at("enabled") == Json(true));
    CHECK(agent.metadata("/1.0/camera", "POST", enable(true)) == first);
    CHECK(agent.done("POST", "/1.0/camera", enable(false)) == plain_success);
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(agent.metadata("/1.0/camera", "POST", enable(true)) != first);
}

TEST_CASE("table: a picture is there until it is deleted") {
    const Agent agent;
    const auto is_there = [&] { return agent.metadata("/1.0/camera").at("data_available").as_bool(); };
    const std::string picture = test::plain_jpeg(640, 480, 0xff0000ff);
    CHECK(agent.error("POST", "/1.0/camera/data", picture) == "400 Camera support is not enabled");
    agent.metadata("/1.0/camera", "POST", enable(true));
    const auto created = agent.ask("POST", "/1.0/camera/data", picture);
    CHECK(created.status == 201);
    CHECK(created.body == R"({"type":"sync","status":"Created","status_code":201})");
    CHECK(is_there());
    CHECK(agent.ask("POST", "/1.0/camera/data", picture).status == 201);
    CHECK(agent.error("POST", "/1.0/camera/data", test::plain_jpeg(480, 640, 0)) ==
          "400 Image size 480x640 is not supported");
    CHECK(is_there());
    CHECK(agent.done("DELETE", "/1.0/camera/data") == plain_success);
    CHECK_FALSE(is_there());
    CHECK(agent.done("DELETE", "/1.0/camera/data") == plain_success);
}

TEST_CASE("table: sensors are switched, and those the guest asks for are told") {
    Agent agent;
    CHECK(
        agent.done("GET", "/1.0/sensors") ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"active_sensors":[],"enabled":false,)"
        R"("supported_sensors":["acceleration","gyroscope","magnetic-field","orientation","temperature",)"
        R"("proximity","light","pressure","humidity"]}})");
    CHECK(agent.done("POST", "/1.0/sensors", enable(true)) == plain_success);
    agent.restart();
    CHECK(agent.metadata("/1.0/sensors").at("enabled") == Json(true));
    const auto guest = attach(agent);
    guest->ask(R"({"id":2,"op":"sensors.activate","type":"gyroscope","on":true,"delay_ms":66})");
    CHECK(agent.metadata("/1.0/sensors").at("active_sensors") ==
          Json::parse(R"([{"type":"gyroscope","delay":66}])"));
}

TEST_CASE("table: sensor values reach who has switched the sensor on") {
    const Agent agent;
    const auto guest = attach(agent);
    const std::string light = R"([{"type":"light","value":300}])";
    CHECK(agent.error("PATCH", "/1.0/sensors", light) == "400 Sensor updates are not enabled");
    agent.done("POST", "/1.0/sensors", enable(true));
    CHECK(agent.error("PATCH", "/1.0/sensors", light) == "400 Sensor 'light' is not active");
    guest->ask(R"({"id":2,"op":"sensors.activate","type":"light","on":true})");
    guest->ask(R"({"id":3,"op":"sensors.activate","type":"orientation","on":true})");
    CHECK(agent.done("PATCH", "/1.0/sensors", light) == plain_success);
    CHECK(guest->receive_json().at("values") == Json::parse("[300]"));
    CHECK(agent.done("PATCH", "/1.0/sensors",
                     R"([{"type":"orientation","azimuth":1.5,"pitch":2,"roll":3}])") == plain_success);
    CHECK(guest->receive_json().at("values") == Json::parse("[1.5,2,3]"));
}
