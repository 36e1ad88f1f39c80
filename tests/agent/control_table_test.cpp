// Each row of the control API's table, asked over its socket as any program asks; what is put in is looked at
// from the guest's side.
#include <sys/socket.h>
#include <sys/un.h>
#include <catch2/catch.hpp>
#include <set>

#include "instance-agent/agent_devices.h"
#include "instance-agent/control/root_routes.h"
#include "instance-agent/interfaces.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/instance.h"
#include "tests/agent/guest_client.h"
#include "tests/agent/jpeg_maker.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using test::GuestClient;

namespace {

const std::string success = R"({"type":"sync","status":"Success","status_code":200})";
const std::string place_of_munich =
    R"({"latitude":48.1173,"longitude":11.5167,"altitude":545,"time":1700000000000,"speed":1.5,"bearing":90})";

class Agent {
  public:
    explicit Agent(agent::Automotive automotive = agent::Automotive::yes)
        : directory_(std::filesystem::temp_directory_path(), "control-table-") {
        options_.session = data() / "session.json";
        options_.api_socket = directory_.path() / "run/api.unix";
        options_.guest_socket = directory_.path() / "run/guest.unix";
        options_.automotive = automotive;
        AgentSession session;
        session.instance_id = "i";
        session.token = "t";
        session.config.platform = "webrtc";
        make_directories(data());
        write_file_atomically(options_.session, session.to_json().dump());
        restart();
    }
    ~Agent() { log::set_level(log::Level::info); }

    void restart() {
        interfaces_.reset();
        interfaces_.emplace(options_, false);
    }
    std::filesystem::path data() const { return directory_.path() / "data"; }
    std::filesystem::path guest_socket() const { return options_.guest_socket; }

    test::RawReply ask(const std::string& method, const std::string& path,
                       const std::string& body = "") const {
        return test::ask(Target::parse("unix://" + options_.api_socket.string()),
                         method + " " + path + " HTTP/1.1\r\nHost: s\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    // The whole body of an answer with 200.
    std::string done(const std::string& method, const std::string& path, const std::string& body = "") const {
        const auto reply = ask(method, path, body);
        INFO(reply.body);
        CHECK(reply.status == 200);
        return reply.body;
    }
    Json metadata(const std::string& path, const std::string& method = "GET",
                  const std::string& body = "") const {
        const Json answer = Json::parse(done(method, path, body));
        CHECK(answer.at("type") == Json("sync"));
        CHECK(answer.at("status") == Json("Success"));
        CHECK(answer.at("status_code") == Json(200));
        return answer.at("metadata");
    }
    // "400 text" of an error, whose body has its three fields and no other.
    std::string error(const std::string& method, const std::string& path,
                      const std::string& body = "") const {
        const auto reply = ask(method, path, body);
        INFO(reply.body);
        const Json answer = Json::parse(reply.body);
        CHECK(answer.at("type") == Json("error"));
        CHECK(answer.at("error_code") == Json(reply.status));
        CHECK(answer.as_object().size() == 3);
        return std::to_string(reply.status) + " " + answer.at("error").as_string();
    }

  private:
    TemporaryDirectory directory_;
    agent::Options options_;
    std::optional<agent::Interfaces> interfaces_;
};

std::unique_ptr<GuestClient> attach(const Agent& agent) {
    auto guest = std::make_unique<GuestClient>(agent.guest_socket());
    REQUIRE(guest->hello().at("ok").as_bool());
    return guest;
}

bool takes_connections(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

std::string enable(bool on) {
    return on ? R"({"enable":true})" : R"({"enable":false})";
}

Json value_at(const Agent& agent, const std::string& path, const std::string& body = "") {
    return agent.metadata(path, "GET", body).at("value");
}

}  // namespace

TEST_CASE("table: server info lists what works, the vehicle on automotive images alone") {
    const Agent car;
    CHECK(
        car.done("GET", "/1.0") ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"api_extensions":["camera_support",)"
        R"("camera_static_data","camera_video_streaming","sensor_support","tracing_support","active_sensors",)"
        R"("platform_support","vhal_support","location_support","metrics","log_level"],)"
        R"("api_status":"stable","api_version":"1.0","log_level":"info"}})");
    const Agent other(agent::Automotive::no);
    CHECK(other.done("GET", "/1.0").find("vhal_support") == std::string::npos);
}

TEST_CASE("table: the log level is changed and kept") {
    Agent agent;
    const std::string level =
        GENERATE(as<std::string>(), "trace", "debug", "info", "warning", "error", "fatal");
    CHECK(agent.done("PATCH", "/1.0", R"({"log_level":")" + level + "\"}") == success);
    CHECK(agent.error("PATCH", "/1.0", R"({"log_level":"loud"})") == "400 Invalid log level 'loud'");
    agent.restart();
    CHECK(agent.metadata("/1.0").at("log_level") == Json(level));
}

TEST_CASE("table: location is switched, and stays so when the agent begins anew") {
    Agent agent;
    CHECK(agent.metadata("/1.0/location") == Json::object({{"enabled", false}}));
    CHECK(agent.error("PATCH", "/1.0/location", place_of_munich) == "400 Location updates are not enabled");
    CHECK(agent.done("POST", "/1.0/location", enable(true)) == success);
    agent.restart();
    CHECK(agent.metadata("/1.0/location") == Json::object({{"enabled", true}}));
    CHECK(agent.done("POST", "/1.0/location", enable(false)) == success);
    CHECK(agent.metadata("/1.0/location") == Json::object({{"enabled", false}}));
}

TEST_CASE("table: a place reaches the guest with the accuracy of 20 m unless told otherwise") {
    const Agent agent;
    const auto guest = attach(agent);
    agent.done("POST", "/1.0/location", enable(true));
    CHECK(agent.done("PATCH", "/1.0/location", place_of_munich) == success);
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
                     R"("speed":0,"bearing":0,"horizontal_accuracy":5})") == success);
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
    CHECK(agent.done("POST", "/1.0/camera", enable(false)) == success);
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
    CHECK(agent.done("DELETE", "/1.0/camera/data") == success);
    CHECK_FALSE(is_there());
    CHECK(agent.done("DELETE", "/1.0/camera/data") == success);
}

TEST_CASE("table: sensors are switched, and those the guest asks for are told") {
    Agent agent;
    CHECK(
        agent.done("GET", "/1.0/sensors") ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"active_sensors":[],"enabled":false,)"
        R"("supported_sensors":["acceleration","gyroscope","magnetic-field","orientation","temperature",)"
        R"("proximity","light","pressure","humidity"]}})");
    CHECK(agent.done("POST", "/1.0/sensors", enable(true)) == success);
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
    CHECK(agent.done("PATCH", "/1.0/sensors", light) == success);
    CHECK(guest->receive_json().at("values") == Json::parse("[300]"));
    CHECK(agent.done("PATCH", "/1.0/sensors",
                     R"([{"type":"orientation","azimuth":1.5,"pitch":2,"roll":3}])") == success);
    CHECK(guest->receive_json().at("values") == Json::parse("[1.5,2,3]"));
}

TEST_CASE("table: a trace is taken from its start to its end") {
    const Agent agent;
    CHECK(agent.metadata("/1.0/tracing") == Json::object({{"active", false}}));
    CHECK(agent.error("POST", "/1.0/tracing", enable(false)) == "400 Tracing is not active");
    CHECK(agent.done("POST", "/1.0/tracing", enable(true)) == success);
    CHECK(agent.metadata("/1.0/tracing") == Json::object({{"active", true}}));
    CHECK(agent.error("POST", "/1.0/tracing", enable(true)) == "400 Tracing is already active");
    const Json taken = agent.metadata("/1.0/tracing", "POST", enable(false));
    CHECK(taken.as_object().size() == 1);
    const std::filesystem::path file = taken.at("path").as_string();
    CHECK(file.parent_path() == agent.data() / "traces");
    CHECK(std::filesystem::file_size(file) > 0);
    CHECK(agent.metadata("/1.0/tracing") == Json::object({{"active", false}}));
}

TEST_CASE("table: platform items are read, set together, reset, and kept") {
    Agent agent;
    const Json first = agent.metadata("/1.0/platform");
    CHECK(first ==
          Json::parse(R"({"name":"webrtc","config":{"rtc_log":false,"stream_active":false,)"
                      R"("stream_video_bitrate_min_kbps":2500,"stream_video_bitrate_max_kbps":5000}})"));
    CHECK(agent.done("PATCH", "/1.0/platform",
                     R"({"config":{"rtc_log":true,"stream_video_bitrate_max_kbps":9000}})") == success);
    CHECK(agent.error("PATCH", "/1.0/platform", R"({"config":{"rtc_log":false,"stream_active":true}})") ==
          "400 Configuration item 'stream_active' is read-only");
    agent.restart();
    const Json kept = agent.metadata("/1.0/platform").at("config");
    CHECK(kept.at("rtc_log") == Json(true));
    CHECK(kept.at("stream_video_bitrate_max_kbps") == Json(9000));
    CHECK(agent.done("DELETE", "/1.0/platform",
                     R"({"configs":["rtc_log","stream_video_bitrate_max_kbps"]})") == success);
    CHECK(agent.metadata("/1.0/platform") == first);
    CHECK(agent.error("DELETE", "/1.0/platform", R"({"configs":["nope"]})") ==
          "400 Unknown configuration item 'nope'");
}

TEST_CASE("table: a property is read by decimal, octal and hexadecimal ids, global ones without an area") {
    const Agent agent;
    const std::string ids = GENERATE("358614275/49", "0x15600503/0x31", "02530002403/061");
    CHECK(
        agent.done("GET", "/1.0/vhal/" + ids) ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"value":{"area_id":49,"bytes":[],)"
        R"("float_values":[16.0],"int32_values":[],"int64_values":[],"prop":358614275,"status":0,)"
        R"("string_value":"","timestamp":0}}})");
    CHECK(value_at(agent, "/1.0/vhal/286261505") == value_at(agent, "/1.0/vhal/0x11100101/0"));
    CHECK(agent.error("GET", "/1.0/vhal/08") == "400 Invalid property id '08'");
    CHECK(agent.error("GET", "/1.0/vhal/286261505/x") == "400 Invalid area id 'x'");
}

TEST_CASE("table: a property that needs more is read with a body") {
    const Agent agent;
    const std::string frame = "/1.0/vhal/0x11e00d01";
    CHECK(agent.error("GET", frame) == "400 Missing field 'int64_values'");
    CHECK(agent.done("PUT", "/1.0/vhal",
                     R"({"prop_id":299896065,"int64_values":[7],"string_value":"P0070"})") == success);
    CHECK(value_at(agent, frame, R"({"int64_values":[7]})").at("string_value") == Json("P0070"));
    CHECK(agent.error("GET", frame, R"({"int64_values":[8]})") == "500 VHAL request failed: NOT_AVAILABLE");
    CHECK(agent.error("GET", frame, "[]") == "400 Request body must be an object");
}

TEST_CASE("table: a property is written by the control API and read by the guest") {
    const Agent agent;
    const auto guest = attach(agent);
    CHECK(agent.done("PUT", "/1.0/vhal",
                     R"({"prop_id":286261505,"area_id":0,"status":0,"string_value":"ACME"})") == success);
    const Json read = guest->ask(R"({"id":2,"op":"vhal.get","prop":286261505})").at("value");
    CHECK(read.at("string_value") == Json("ACME"));
    CHECK(read.at("timestamp").as_int() > 0);
    guest->ask(R"({"id":3,"op":"vhal.set","prop":358614275,"area_id":68,"float_values":[21.5]})");
    CHECK(value_at(agent, "/1.0/vhal/358614275/68").at("float_values") == Json::parse("[21.5]"));
    for (const char* empty : {R"({"prop_id":286261505})", R"({"prop_id":286261505,"status":1})"})
        CHECK(agent.error("PUT", "/1.0/vhal", empty) == "400 No value provided");
    CHECK(agent.error("PUT", "/1.0/vhal", R"({"prop_id":286261505,"status":3,"string_value":""})") ==
          "400 Invalid status 3");
    CHECK(agent.error("PUT", "/1.0/vhal", R"({"prop_id":"0x11100101","string_value":""})") ==
          "400 Invalid value for field 'prop_id'");
    CHECK(agent.error("PUT", "/1.0/vhal", "[]") == "400 Request body must be an object");
}

TEST_CASE("a guest tells of a property that has no value, and of an empty vector") {
    const Agent agent;
    const auto guest = attach(agent);
    CHECK(guest->ask(R"({"id":2,"op":"vhal.set","prop":291504900,"status":1})").at("ok").as_bool());
    const Json temperature = value_at(agent, "/1.0/vhal/291504900");
    CHECK(temperature.at("status") == Json(1));
    CHECK(temperature.at("float_values") == Json::array());
    CHECK(guest->ask(R"({"id":3,"op":"vhal.set","prop":289475073})").at("ok").as_bool());
    CHECK(value_at(agent, "/1.0/vhal/289475073").at("int32_values") == Json::array());
    CHECK_FALSE(guest->ask(R"({"id":4,"op":"vhal.set","prop":291504900})").at("ok").as_bool());
}

TEST_CASE("table: configurations of all properties and of those named") {
    const Agent agent;
    CHECK(agent.metadata("/1.0/vhal/config").at("configs").as_array().size() == 75);
    CHECK(
        agent.done("GET", "/1.0/vhal/config/0x15600503,02104000401") ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"configs":[{"access":3,"area_configs":[)"
        R"({"area_id":49,"max_float_value":32.0,"max_int32_value":0,"max_int64_value":0,"min_float_value":16.0,)"
        R"("min_int32_value":0,"min_int64_value":0},)"
        R"({"area_id":68,"max_float_value":32.0,"max_int32_value":0,"max_int64_value":0,"min_float_value":16.0,)"
        R"("min_int32_value":0,"min_int64_value":0}],"change_mode":1,"config_array":[160,280,5,605,825,10],)"
        R"("config_string":"","max_sample_rate":0.0,"min_sample_rate":0.0,"prop":358614275,"value_type":6291456},)"
        R"({"access":1,"area_configs":[],"change_mode":0,"config_array":[],"config_string":"",)"
        R"("max_sample_rate":0.0,"min_sample_rate":0.0,"prop":286261505,"value_type":1048576}]}})");
    CHECK(agent.error("GET", "/1.0/vhal/config/286261505,1") == "400 Unknown property 1");
    CHECK(agent.error("GET", "/1.0/vhal/config/286261505,") == "400 Invalid property id ''");
}

TEST_CASE("table: an image without a vehicle answers 500 on each vehicle route") {
    const Agent agent(agent::Automotive::no);
    const auto [method, path] =
        GENERATE(std::pair{"GET", "/1.0/vhal/1"}, std::pair{"GET", "/1.0/vhal/1/0/"},
                 std::pair{"PUT", "/1.0/vhal"}, std::pair{"GET", "/1.0/vhal/config"},
                 std::pair{"GET", "/1.0/vhal/config/x,y"}, std::pair{"DELETE", "/1.0/vhal/zzz"});
    CHECK(agent.error(method, path) == "500 VHAL is not supported");
}

TEST_CASE("table: metrics are Prometheus' text and count requests") {
    const Agent agent;
    agent.error("GET", "/1.0/nope");
    const auto reply = agent.ask("GET", "/1.0/metrics");
    CHECK(reply.status == 200);
    CHECK(reply.head.find("text/plain; version=0.0.4") != std::string::npos);
    CHECK(reply.body.find("runtime_requests_total{method=\"GET\",status=\"400\"} 1\n") != std::string::npos);
}

namespace {

// "GET /1.0/location" of each route that is served.
std::set<std::string> served_routes() {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "control-table-");
    MetricsRegistry metrics;
    SystemClock clock;
    agent::Paths paths;
    paths.data = directory.path() / "data";
    agent::LogSetting log_setting(directory.path() / "log_level", "info");
    agent::AgentDevices devices({paths, directory.path(), {}, "webrtc", true, false, metrics, clock});
    std::vector<Route> routes =
        agent::root_routes([] { return std::vector<std::string>(); }, log_setting, metrics);
    for (Route& route : devices.routes()) routes.push_back(std::move(route));
    std::set<std::string> names;
    for (const Route& route : routes) names.insert(std::string(to_text(route.method)) + " " + route.path);
    return names;
}

// What docs/coverage.md says of the agent: the rows behind its heading.
std::set<std::string> documented_routes() {
    std::set<std::string> rows;
    bool ours = false;
    for (const std::string& line : split(read_file(SVC_COVERAGE), '\n')) {
        if (line.rfind("# ", 0) == 0 || line.rfind("## ", 0) == 0)
            ours = line == "## Instance-local control API";
        const auto cells = split(line, '|');
        if (ours && cells.size() > 3 && trim(cells[2]).rfind("/1.0", 0) == 0)
            rows.insert(std::string(trim(cells[1])) + " " + std::string(trim(cells[2])));
    }
    return rows;
}

}  // namespace

TEST_CASE("the table of tests has each route of the control API and no other") {
    CHECK(served_routes() == documented_routes());
}
