#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instance-agent/agent/control/control_server.h"
#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/control/root_routes.h"
#include "libsvc/base/error.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using test::RawReply;

namespace {

Route route(Method method, const std::string& path, Handler handler, std::uint64_t max_body = 1U << 20) {
    return Route{method, path, Access::everyone, Dispatch::on_pool, "test", std::move(handler), max_body};
}

std::vector<Route> test_routes() {
    return {route(Method::post, "/1.0/echo",
                  [](Request& request) { return agent::success(agent::body_of(request)); }),
            route(
                Method::post, "/1.0/data", [](Request&) { return agent::created(); }, 4U << 20),
            route(Method::get, "/1.0/busy",
                  [](Request&) -> Response { throw Error(ErrorCode::busy, "camera is busy"); }),
            route(Method::get, "/1.0/item/{id}",
                  [](Request& request) { return agent::success(Json(request.params["id"])); })};
}

class Place {
  public:
    Place() : directory_(std::filesystem::temp_directory_path(), "control-test-"), setting_(kept(), "info") {
        auto routes = agent::root_routes(
            [] {
                return std::vector<std::string>{"metrics", "log_level"};
            },
            setting_, metrics);
        for (Route& one : test_routes()) routes.push_back(std::move(one));
        server.emplace(socket(), std::move(routes), metrics);
    }
    ~Place() { log::set_level(log::Level::info); }
    std::filesystem::path directory() const { return directory_.path(); }
    std::filesystem::path socket() const { return directory() / "api.unix"; }
    std::filesystem::path kept() const { return directory() / "state/log_level"; }
    Target target() const { return Target::parse("unix://" + socket().string()); }
    RawReply ask(const std::string& method, const std::string& path, const std::string& body = "") const {
        return test::ask(target(), method + " " + path + " HTTP/1.1\r\nHost: s\r\nContent-Length: " +
                                       std::to_string(body.size()) + "\r\n\r\n" + body);
    }

    MetricsRegistry metrics;

  private:
    TemporaryDirectory directory_;
    agent::LogSetting setting_;

  public:
    std::optional<agent::ControlServer> server;
};

std::string error_text(const RawReply& reply) {
    const Json body = Json::parse(reply.body);
    CHECK(body.at("type").as_string() == "error");
    CHECK(body.at("error_code") == Json(reply.status));
    CHECK(body.as_object().size() == 3);
    return body.at("error").as_string();
}

// Connects as another user. 0: the server closed the connection; 1: anything else.
int connect_as(uid_t uid, const std::filesystem::path& socket) {
    const pid_t child = fork();
    if (child == 0) {
        if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) _exit(2);
        try {
            test::RawClient client(Target::parse("unix://" + socket.string()));
            client.send("GET /1.0 HTTP/1.1\r\nHost: s\r\n\r\n");
            _exit(client.reply().status == 200 ? 1 : 0);
        } catch (const std::exception&) {
            _exit(2);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the server tells what it can") {
    Place place;
    const std::string path = GENERATE("/1.0", "/1.0/");
    const auto reply = place.ask("GET", path);
    CHECK(reply.status == 200);
    CHECK(
        reply.body ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"api_extensions":["metrics","log_level"],)"
        R"("api_status":"stable","api_version":"1.0","log_level":"info"}})");
}

TEST_CASE("every path goes with a slash at its end and without") {
    Place place;
    const std::string slash = GENERATE("", "/");
    CHECK(place.ask("POST", "/1.0/echo" + slash, "{\"a\":1}").body ==
          R"({"type":"sync","status":"Success","status_code":200,"metadata":{"a":1}})");
    CHECK(place.ask("POST", "/1.0/data" + slash, "x").body ==
          R"({"type":"sync","status":"Created","status_code":201})");
    CHECK(place.ask("GET", "/1.0/item/7" + slash).status == 200);
    CHECK(place.ask("GET", "/1.0/metrics" + slash).status == 200);
    CHECK(place.ask("PATCH", "/1.0" + slash, R"({"log_level":"info"})").status == 200);
}

TEST_CASE("unknown paths and methods are one error") {
    Place place;
    const auto [method, path] =
        GENERATE(std::pair{"GET", "/"}, std::pair{"GET", "/1.0/nope"}, std::pair{"DELETE", "/1.0"},
                 std::pair{"GET", "/1.0/echo"}, std::pair{"POST", "/1.0//echo"}, std::pair{"BREW", "/1.0"},
                 std::pair{"GET", "/2.0"});
    const auto reply = place.ask(method, path);
    CHECK(reply.status == 400);
    CHECK(error_text(reply) == "API endpoint does not exist");
}

TEST_CASE("errors are 400 for the request and 500 for the rest") {
    Place place;
    const auto busy = place.ask("GET", "/1.0/busy");
    CHECK(busy.status == 500);
    CHECK(error_text(busy) == "camera is busy");
    const auto malformed = place.ask("POST", "/1.0/echo", "{");
    CHECK(malformed.status == 400);
    error_text(malformed);
}

TEST_CASE("bodies end at their limit") {
    Place place;
    const auto reply = place.ask("POST", "/1.0/echo", std::string((1U << 20) + 1, ' '));
    CHECK(reply.status == 400);
    CHECK(place.ask("POST", "/1.0/echo", "1" + std::string((1U << 20) - 1, ' ')).status == 200);
    CHECK(place.ask("POST", "/1.0/data", std::string(4U << 20, ' ')).status == 201);
}

TEST_CASE("headers end at theirs") {
    Place place;
    const std::string long_header(17U << 10, 'x');
    test::RawClient client(place.target());
    client.send("GET /1.0 HTTP/1.1\r\nHost: s\r\nX-Long: " + long_header + "\r\n\r\n");
    const auto reply = client.reply();
    CHECK((reply.status == 400 || reply.status == 500));
}

TEST_CASE("large bodies are taken few at a time") {
    Place place;
    std::vector<std::unique_ptr<test::RawClient>> waiting;
    const std::string head = "POST /1.0/data HTTP/1.1\r\nHost: s\r\nContent-Length: 4000000\r\n\r\n";
    const auto refused = [&] {
        waiting.push_back(std::make_unique<test::RawClient>(place.target()));
        waiting.back()->send(head);
        const auto reply = place.ask("POST", "/1.0/data", std::string(2'000'000, ' '));
        return reply.status == 500;
    };
    CHECK(test::eventually(refused));
    CHECK(waiting.size() >= 4);
    CHECK(place.ask("POST", "/1.0/data", "small").status == 201);
    waiting.clear();
    CHECK(test::eventually(
        [&] { return place.ask("POST", "/1.0/data", std::string(2'000'000, ' ')).status == 201; }));
}

TEST_CASE("the log level is set, told and kept") {
    Place place;
    CHECK(place.ask("PATCH", "/1.0", R"({"log_level":"trace"})").body ==
          R"({"type":"sync","status":"Success","status_code":200})");
    CHECK(log::level() == log::Level::debug);
    CHECK(place.ask("GET", "/1.0").body.find(R"("log_level":"trace")") != std::string::npos);
    CHECK(agent::LogSetting(place.kept(), "").name() == "trace");
    CHECK(agent::LogSetting(place.kept(), "error").name() == "error");
}

TEST_CASE("bad settings change nothing") {
    Place place;
    const auto [body, text] = GENERATE(std::pair{R"({"log_level":"loud"})", "Invalid log level 'loud'"},
                                       std::pair{"{}", "Missing field 'log_level'"},
                                       std::pair{R"({"log_level":5})", "Invalid value for field 'log_level'"},
                                       std::pair{"[]", "Request body must be an object"});
    const auto reply = place.ask("PATCH", "/1.0", body);
    CHECK(reply.status == 400);
    CHECK(error_text(reply) == text);
    CHECK(place.ask("GET", "/1.0").body.find(R"("log_level":"info")") != std::string::npos);
}

TEST_CASE("requests are counted") {
    Place place;
    place.ask("GET", "/1.0/nope");
    CHECK(test::eventually([&] {
        return place.ask("GET", "/1.0/metrics")
                   .body.find(R"(runtime_requests_total{method="GET",status="400"} 1)") != std::string::npos;
    }));
}

TEST_CASE("a thousand connections do no harm") {
    Place place;
    std::vector<std::unique_ptr<test::RawClient>> idle;
    for (int i = 0; i < 1000; ++i) idle.push_back(std::make_unique<test::RawClient>(place.target()));
    CHECK(place.ask("GET", "/1.0").status == 200);
    CHECK(test::eventually([&] { return place.server->connections() >= 1000; }));
    CHECK(idle.back()->send("GET /1.0 HTTP/1.1\r\nHost: s\r\n\r\n"));
    CHECK(idle.back()->reply().status == 200);
    idle.clear();
    CHECK(test::eventually([&] { return place.server->connections() == 0; }));
}

TEST_CASE("the socket is for the user and goes with the server") {
    Place place;
    struct stat info {};
    REQUIRE(stat(place.socket().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0660);
    place.server.reset();
    CHECK_FALSE(std::filesystem::exists(place.socket()));
}

TEST_CASE("root gives the socket to the user") {
    test::skip_unless_root();
    const Place place;
    struct stat info {};
    REQUIRE(stat(place.socket().c_str(), &info) == 0);
    CHECK(info.st_uid == 1000);
    CHECK(info.st_gid == 1000);
}

TEST_CASE("peers other than root and the user are closed") {
    test::skip_unless_root();
    Place place;
    std::filesystem::permissions(place.directory(), std::filesystem::perms::all);
    std::filesystem::permissions(place.socket(), static_cast<std::filesystem::perms>(0666));
    CHECK(connect_as(65534, place.socket()) == 0);
    CHECK(connect_as(1000, place.socket()) == 1);
}
