// svcctl gateway against a gateway that says what the test wants.
#include <atomic>
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/cli/run_cli.h"
#include "tests/support/golden.h"
#include "tests/unit/client/fake_service.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string id = "c055dl0j1qm027422feg";
const std::string other_id = "c055dl0j1qm027422fg0";
constexpr std::string_view no_room =
    "No suitable node to satisfy container requirement available (node0: cpus short by 2)";

Json session(const std::string& session_id, std::string_view status, std::string_view instance) {
    return Json::object({{"id", session_id},
                         {"app", "candy"},
                         {"region", "north"},
                         {"cluster_id", "north"},
                         {"container_id", instance},
                         {"joinable", true},
                         {"status", status},
                         {"status_message", status == "error" ? no_room : ""},
                         {"created_at", 1704164645},
                         {"client_connected", false},
                         {"account", instance.empty() ? "" : "alice"}});
}

Json account(std::string_view name) {
    return Json::object({{"name", name},
                         {"created_at", "2024-01-02T03:04:05.678901234Z"},
                         {"expires_at", "2025-01-02T03:04:05.000000000Z"},
                         {"admin", name == "web"}});
}

struct World {
    FakeService gateway;
    CliSettings settings;

    CliRun run(const std::vector<std::string>& words) {
        settings.gateway_socket = gateway.target().unix_path;
        return run_cli(words, settings);
    }
    std::string ask(const std::vector<std::string>& words) {
        const CliRun done = run(words);
        INFO(done.err);
        REQUIRE(done.status == 0);
        return done.out;
    }
    Json body() { return Json::parse(gateway.last_request().body); }
    // What the gateway is asked for when a session is created with these flags.
    Json requested(const std::vector<std::string>& flags) {
        std::vector<std::string> words{"gateway", "session", "create", "candy"};
        words.insert(words.end(), flags.begin(), flags.end());
        ask(words);
        return body();
    }
};

Json name(std::string_view text) {
    return Json::object({{"name", text}});
}

}  // namespace

TEST_CASE("lists and records of the gateway come in four formats") {
    World world;
    world.gateway.on("/1.0/sessions", [](const Request&) {
        return Json::array({session(id, "active", "c055dl0j1qm027422f00"), session(other_id, "error", "")});
    });
    world.gateway.on("/1.0/sessions/" + id,
                     [](const Request&) { return session(id, "active", "c055dl0j1qm027422f00"); });
    world.gateway.on("/1.0/accounts", [](const Request&) {
        return Json::array({account("alice"), account("web")});
    });
    world.gateway.on("/1.0/regions", [](const Request&) {
        return Json::array({name("north"), name("south")});
    });
    world.gateway.on("/1.0/applications", [](const Request&) {
        return Json::parse(R"([{"name":"candy","streams":true},{"name":"greeter","streams":false}])");
    });
    world.gateway.start();
    for (const std::string format : {"table", "json", "yaml", "csv"}) {
        const auto check = [&](const std::string& file, std::vector<std::string> words) {
            words.insert(words.end(), {"-o", format});
            check_golden("cli/golden/gateway_" + file + "." + format, world.ask(words));
        };
        check("session_list", {"gateway", "session", "list"});
        check("session_show", {"gateway", "session", "show", id});
        check("account_list", {"gateway", "account", "list"});
        check("region_list", {"gateway", "region", "ls"});
        check("application_list", {"gateway", "application", "ls"});
    }
}

TEST_CASE("the gateway's help names its commands, and a command's its flags") {
    check_golden("cli/golden/help_gateway.txt", run_cli({"gateway", "--help"}).out);
    check_golden("cli/golden/help_gateway_session_create.txt",
                 run_cli({"gateway", "session", "create", "-h"}).out);
}

TEST_CASE("the status tells by its exit status whether the gateway is well") {
    World world;
    std::atomic<bool> well = true;
    world.gateway.on("/1.0/status", [&](const Request&) {
        return Json::object({{"status", well ? "healthy" : "unhealthy"}, {"agents", 1}});
    });
    world.gateway.start();
    CHECK(world.ask({"gateway", "status"}) == "status: healthy\nagents: 1\n");
    well = false;
    CHECK(world.run({"gateway", "status"}).status == 1);
}

TEST_CASE("a new account's token is all that goes to standard output") {
    World world;
    world.gateway.on("/1.0/accounts", [](const Request&) {
        Json made = account("alice");
        made.set("token", "AgEOc3R");
        return made;
    });
    world.gateway.start();
    const CliRun done = world.run({"gateway", "account", "create", "alice", "--expiry", "720h"});
    CHECK(done.status == 0);
    CHECK(done.out == "AgEOc3R\n");
    CHECK(done.err == "Account alice, good until 2025-01-02T03:04:05Z.\n");  // the token is not told there
    CHECK(world.body().dump() == R"({"name":"alice","expiry":"720h"})");
    world.ask({"gateway", "account", "create", "alice", "--admin"});
    CHECK(world.body().at("admin") == Json(true));
}

TEST_CASE("accounts are deleted by name") {
    World world;
    world.gateway.on("/1.0/accounts/alice", [](const Request&) { return Json(); });
    world.gateway.refuse("/1.0/accounts/bob", 404, "account not found");
    world.gateway.start();
    CHECK(world.ask({"gateway", "account", "delete", "alice"}).empty());
    const CliRun done = world.run({"gateway", "account", "rm", "bob"});
    CHECK(done.status == 1);
    CHECK(done.err == "Error: account not found\n");
}

TEST_CASE("a session is created as its flags say") {
    World world;
    world.gateway.on("/1.0/sessions", [](const Request&) {
        return Json::object({{"id", id}, {"region", "north"}, {"url", "wss://x/1.0/sessions/" + id}});
    });
    world.gateway.start();
    CHECK(world.requested({}).dump() == R"({"app":"candy","joinable":false,"ephemeral":true})");
    CHECK(
        world
            .requested({"--region", "north", "-j", "--idle-time", "0", "--keep", "--app-version", "2",
                        "--screen", "640x360", "--density", "160", "--fps", "30", "--extra-data",
                        R"({"a":[1]})"})
            .dump() ==
        R"({"app":"candy","joinable":true,"ephemeral":false,"app_version":2,"region":"north","idle_time_min":0,)"
        R"("extra_data":{"a":[1]},"screen":{"width":640,"height":360,"density":160,"fps":30}})");
    CHECK(world.ask({"gateway", "session", "create", "candy"}) ==
          "id: " + id + "\nregion: north\nurl: wss://x/1.0/sessions/" + id + "\n");
}

TEST_CASE("a session is joined with the screen that was asked for") {
    World world;
    world.gateway.on("/1.0/sessions/" + id + "/join", [](const Request&) {
        return Json::object({{"id", id}});
    });
    world.gateway.start();
    world.ask({"gateway", "session", "join", id});
    CHECK(world.body() == Json::object());
    world.ask({"gateway", "session", "join", id, "--screen", "1920x1080"});
    CHECK(world.body().dump() == R"({"screen":{"width":1920,"height":1080}})");
}

TEST_CASE("sessions are listed by status") {
    World world;
    world.gateway.on("/1.0/sessions", [](const Request&) { return Json::array(); });
    world.gateway.start();
    CHECK(world.ask({"gateway", "session", "list", "--status", "error", "-o", "json"}) == "[]\n");
    CHECK(world.gateway.last_request().query_value("status") == "error");
}

TEST_CASE("a list has no account where the gateway tells none") {
    World world;
    world.gateway.on("/1.0/sessions", [](const Request&) {
        return Json::array({Json::object({{"id", id}, {"status", "active"}})});
    });
    world.gateway.start();
    CHECK(world.ask({"gateway", "session", "list", "-o", "csv"}) ==
          "ID,APP,REGION,STATUS,INSTANCE,JOINABLE,ACCOUNT,REASON\n" + id + ",,,active,,false,,\n");
}

TEST_CASE("deletions wait for the instance unless told not to") {
    World world;
    world.gateway.on("/1.0/sessions/" + id, [](const Request&) { return Json(); });
    world.gateway.start();
    world.ask({"gateway", "session", "delete", id});
    CHECK(world.gateway.last_request().query_value("sync") == "true");
    world.ask({"gateway", "session", "delete", id, "--no-wait", "--force"});
    CHECK(world.gateway.last_request().query_value("sync") == "false");
    CHECK(world.gateway.last_request().query_value("force") == "true");
}

TEST_CASE("of several sessions those that could not be deleted are named") {
    World world;
    world.gateway.on("/1.0/sessions", [](const Request&) {
        return Json::object({{"deleted_sessions", Json::array({id})},
                             {"errors", Json::array({Json::object({{"session_id", other_id},
                                                                   {"error_message", "session not found"},
                                                                   {"status_code", 404}})})}});
    });
    world.gateway.start();
    const CliRun done = world.run({"gateway", "session", "rm", id, other_id});
    CHECK(done.status == 1);
    CHECK(done.err == "Error: " + other_id + ": session not found\n");
}

TEST_CASE("wrong usage of gateway commands is status 2 and says what is wrong") {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"gateway"}, "which command?"},
        {{"gateway", "session"}, "which command?"},
        {{"gateway", "fly"}, "unknown command 'gateway fly'"},
        {{"gateway", "account", "create"}, "argument <name> is missing"},
        {{"gateway", "session", "delete"}, "argument <id> is missing"},
        {{"gateway", "session", "create", "candy", "--screen", "640"}, "'640' is not of the form 1280x720"},
        {{"gateway", "session", "create", "candy", "--screen", "640x"}, "'640x'"},
        {{"gateway", "session", "create", "candy", "--screen", "640x0"}, "'640x0'"},
        {{"gateway", "session", "create", "candy", "--screen", "640x360x2"}, "'640x360x2'"},
        {{"gateway", "session", "create", "candy", "--idle-time", "soon"}, "'soon' is not a whole number"},
        {{"gateway", "session", "create", "candy", "--extra-data", "{"}, "--extra-data"},
        {{"gateway", "session", "list", "--status", "gone"}, "'gone'"},
        {{"gateway", "status", "--socket", "/x"}, "--socket is of the management service"},
        {{"gateway", "status", "--token", "x"}, "--token needs --gateway-url"},
        {{"gateway", "status", "--gateway-url", "https://x:1"}, "needs --token"},
        {{"gateway", "status", "--gateway-url", "http://x:1", "--token", "t"}, "https://host:port expected"},
        {{"gateway", "status", "--gateway-url", "ftp://x", "--token", "t"}, "--gateway-url"},
        {{"gateway", "status", "--gateway-url", "https://x:1", "--token", "a b"}, "no spaces"},
        {{"gateway", "status", "--gateway-url", "https://x:1", "--token", "t", "--gateway-fingerprint", "12"},
         "64"},
        {{"gateway", "status", "--gateway-url", "https://x:1", "--gateway-socket", "/x"},
         "exclude each other"},
    };
    for (const auto& [words, text] : cases) {
        const CliRun run = run_cli(words);
        INFO(run.err);
        CHECK(run.status == 2);
        CHECK(run.out.empty());
        CHECK_THAT(run.err, Catch::Contains(text));
    }
}

TEST_CASE("a gateway that cannot be reached is status 3 and its socket is named") {
    const CliRun done = run_cli({"gateway", "region", "list"});
    CHECK(done.status == 3);
    CHECK(done.err ==
          "Error: socket '/nonexistent/gateway.socket' does not exist; is svc-gateway running?\n");
    CHECK(run_cli({"gateway", "status", "--gateway-url", "https://127.0.0.1:1", "--token", "t"}).status == 3);
}

TEST_CASE("refusals of the gateway are told in its words") {
    World world;
    world.gateway.refuse("/1.0/sessions", 404, "No agent available to host the session");
    world.gateway.start();
    const CliRun done = world.run({"gateway", "session", "create", "candy"});
    CHECK(done.status == 1);
    CHECK(done.out.empty());
    CHECK(done.err == "Error: No agent available to host the session\n");
}
