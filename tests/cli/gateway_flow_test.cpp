// svcctl gateway against the gateway's code in the same process, in a region that the test plays.
#include <catch2/catch.hpp>

#include "tests/cli/run_cli.h"
#include "tests/support/test_gateway.h"

using namespace svc;
using namespace svc::test;

namespace {

struct FlowWorld {
    TestGateway gateway;
    CliSettings settings;

    CliRun run(const std::vector<std::string>& words) {
        settings.gateway_socket = gateway.options().socket;
        return run_cli(words, settings);
    }
    std::string ask(const std::vector<std::string>& words) {
        CliRun done = run(words);
        INFO(done.err);
        REQUIRE(done.status == 0);
        if (done.out.ends_with('\n')) done.out.pop_back();
        return done.out;
    }
    Json ask_json(std::vector<std::string> words) {
        words.insert(words.end(), {"-o", "json"});
        return Json::parse(ask(words));
    }
    std::string create(std::vector<std::string> flags = {}) {
        flags.insert(flags.begin(), {"gateway", "session", "create", "app"});
        return ask_json(flags).at("id").as_string();
    }
    std::vector<std::string> from_afar(const std::string& token, std::vector<std::string> words) {
        const Target target = gateway.target();
        words.insert(words.end(),
                     {"--gateway-url", "https://" + target.host + ":" + std::to_string(target.port),
                      "--gateway-fingerprint", target.server_fingerprint, "--token", token});
        return words;
    }
};

}  // namespace

TEST_CASE("regions and applications of a running gateway are listed") {
    FlowWorld world;
    CHECK(world.ask_json({"gateway", "region", "list"}).dump() == R"([{"name":"home"}])");
    CHECK(world.ask_json({"gateway", "application", "list"}).dump() == R"([{"name":"app","streams":true}])");
    CHECK(world.ask_json({"gateway", "status"}).at("status") == Json("healthy"));
}

TEST_CASE("an account's token opens the gateway from afar until the account is deleted") {
    FlowWorld world;
    const std::string token = world.ask({"gateway", "account", "create", "alice", "--expiry", "1h"});
    CHECK(world.ask_json({"gateway", "account", "list"}).as_array().at(0).at("name") == Json("alice"));
    CHECK(world.run({"gateway", "account", "create", "alice"}).err == "Error: account already exists\n");
    const auto list = world.from_afar(token, {"gateway", "session", "list", "-o", "json"});
    CHECK(world.ask(list) == "[]");
    CHECK(world.run(world.from_afar(token, {"gateway", "account", "list"})).status == 1);
    world.ask({"gateway", "account", "delete", "alice"});
    const CliRun refused = world.run(list);
    CHECK(refused.status == 1);
    CHECK(refused.err == "Error: Authorization failed\n");
}

TEST_CASE("a session is created, shown, joined and deleted") {
    FlowWorld world;
    const std::string id = world.create({"--joinable", "--screen", "640x360"});
    world.gateway.region().await_launches(1);
    CHECK(world.gateway.region().launches().at(0).user_data.at("display_width") == Json(640));
    CHECK(world.ask_json({"gateway", "session", "show", id}).at("status") == Json("created"));
    CHECK(world.run({"gateway", "session", "join", id}).err == "Error: Session is not active\n");
    const ScriptedInstance instance(world.gateway, id);
    eventually("the session is active", [&] {
        return world.ask_json({"gateway", "session", "show", id}).at("status") == Json("active");
    });
    CHECK_THAT(world.ask_json({"gateway", "session", "join", id}).at("url").as_string(),
               Catch::StartsWith("ws") && Catch::Contains("/1.0/sessions/" + id + "/sockets/slave?token="));
    CHECK(world.ask({"gateway", "session", "delete", id}).empty());
    CHECK(world.gateway.region().removals().size() == 1);
    CHECK(world.run({"gateway", "session", "show", id}).err == "Error: session not found\n");
}

TEST_CASE("a session for an account is the account's, and one for nobody is said to be administrators'") {
    FlowWorld world;
    const std::string token = world.ask({"gateway", "account", "create", "alice"});
    const std::string admin = world.ask({"gateway", "account", "create", "root", "--admin"});
    const auto seen = [&](const std::string& with) {
        return Json::parse(world.ask(world.from_afar(with, {"gateway", "session", "list", "-o", "json"})));
    };
    const std::string id = world.create({"--joinable", "--account", "alice"});
    const CliRun nobodys = world.run({"gateway", "session", "create", "app"});
    CHECK(nobodys.status == 0);
    CHECK_THAT(nobodys.err, Catch::Contains("no account's") && Catch::Contains("--account"));
    REQUIRE(seen(token).as_array().size() == 1);
    CHECK(seen(token).as_array().at(0).at("id") == Json(id));
    CHECK(seen(admin).as_array().size() == 2);
    CHECK(world.run({"gateway", "session", "create", "app", "--account", "alice"}).err.empty());
    CHECK(world.run({"gateway", "session", "create", "app", "--account", "carol"}).err ==
          "Error: account 'carol' is unknown\n");
}

TEST_CASE("several sessions are deleted at once, and those that are not there are named") {
    FlowWorld world;
    const std::string one = world.create(), two = world.create();
    world.gateway.region().await_launches(2);
    const std::string absent = "c055dl0j1qm027422feg";
    const CliRun done = world.run({"gateway", "session", "delete", one, absent, two});
    CHECK(done.status == 1);
    CHECK(done.err == "Error: " + absent + ": session not found\n");
    CHECK(world.ask({"gateway", "session", "list", "-o", "json"}) == "[]");
}

TEST_CASE("what the gateway refuses is told with its reason") {
    FlowWorld world;
    CHECK_THAT(world.run({"gateway", "session", "create", "absent"}).err, Catch::Contains("absent"));
    CHECK(world.run({"gateway", "session", "create", "app", "--region", "west"}).err ==
          "Error: No agent available to host the session\n");
    CHECK_THAT(world.run({"gateway", "session", "create", "app", "--screen", "9999x10"}).err,
               Catch::Contains("width"));
    CHECK_THAT(world.run({"gateway", "account", "create", "Not Good"}).err, Catch::Contains("name"));
    CHECK_THAT(world.run({"gateway", "account", "create", "bob", "--expiry", "soon"}).err,
               Catch::Contains("expiry"));
}
