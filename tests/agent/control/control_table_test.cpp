// The control API's table: what is about the instance itself. And each row of it is tested somewhere.
#include <set>

#include "instance-agent/agent/agent_devices.h"
#include "instance-agent/agent/control/root_routes.h"
#include "libsvc/base/strings.h"
#include "tests/agent/control/control_table.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("table: server info lists what works, the vehicle on automotive images alone") {
    const Agent car;
    CHECK(
        car.done("GET", "/1.0") ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"api_extensions":["camera_support",)"
        R"("camera_static_data","camera_video_streaming","sensor_support","tracing_support","active_sensors",)"
        R"("platform_support","vhal_support","location_support","metrics","log_level","telephony"],)"
        R"("api_status":"stable","api_version":"1.0","log_level":"info"}})");
    const Agent other(agent::Automotive::no);
    CHECK(other.done("GET", "/1.0").find("vhal_support") == std::string::npos);
}

TEST_CASE("table: the log level is changed and kept") {
    Agent agent;
    const std::string level =
        GENERATE(as<std::string>(), "trace", "debug", "info", "warning", "error", "fatal");
    CHECK(agent.done("PATCH", "/1.0", R"({"log_level":")" + level + "\"}") == plain_success);
    CHECK(agent.error("PATCH", "/1.0", R"({"log_level":"loud"})") == "400 Invalid log level 'loud'");
    agent.restart();
    CHECK(agent.metadata("/1.0").at("log_level") == Json(level));
}

TEST_CASE("table: a trace is taken from its start to its end") {
    const Agent agent;
    CHECK(agent.metadata("/1.0/tracing") == Json::object({{"active", false}}));
    CHECK(agent.error("POST", "/1.0/tracing", enable(false)) == "400 Tracing is not active");
    CHECK(agent.done("POST", "/1.0/tracing", enable(true)) == plain_success);
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
                      R"("clipboard_to_instance":true,"clipboard_from_instance":true,)"
                      R"("files_to_instance":true,"files_from_instance":true,)"
                      R"("stream_video_bitrate_min_kbps":2500,"stream_video_bitrate_max_kbps":5000}})"));
    CHECK(agent.done("PATCH", "/1.0/platform",
                     R"({"config":{"rtc_log":true,"stream_video_bitrate_max_kbps":9000}})") == plain_success);
    CHECK(agent.error("PATCH", "/1.0/platform", R"({"config":{"rtc_log":false,"stream_active":true}})") ==
          "400 Configuration item 'stream_active' is read-only");
    agent.restart();
    const Json kept = agent.metadata("/1.0/platform").at("config");
    CHECK(kept.at("rtc_log") == Json(true));
    CHECK(kept.at("stream_video_bitrate_max_kbps") == Json(9000));
    CHECK(agent.done("DELETE", "/1.0/platform",
                     R"({"configs":["rtc_log","stream_video_bitrate_max_kbps"]})") == plain_success);
    CHECK(agent.metadata("/1.0/platform") == first);
    CHECK(agent.error("DELETE", "/1.0/platform", R"({"configs":["nope"]})") ==
          "400 Unknown configuration item 'nope'");
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
