#include "libsvc/client/gateway_client.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/unit/client/fake_service.h"

using namespace svc;
using namespace svc::test;

namespace {

const SessionRemoval patient;

struct World {
    FakeService gateway;
    GatewayClient start(const std::string& token = "") {
        gateway.start();
        return GatewayClient(gateway.target(), token);
    }
};

}  // namespace

TEST_CASE("a token is sent as a macaroon, and only where there is one") {
    World world;
    world.gateway.on("/1.0/status", [](const Request& request) {
        return Json::object({{"authorization", request.headers.get("Authorization")}});
    });
    GatewayClient client = world.start("abc");
    CHECK(client.status().at("authorization") == Json("macaroon root=abc"));
    CHECK(GatewayClient(world.gateway.target()).status().at("authorization") == Json(""));
}

TEST_CASE("sessions are asked for as objects, and may be filtered by status") {
    World world;
    world.gateway.on("/1.0/sessions", [](const Request&) {
        return Json::array({Json::object({{"id", "s1"}})});
    });
    GatewayClient client = world.start();
    CHECK(client.sessions().at(0).at("id") == Json("s1"));
    CHECK(world.gateway.last_request().query_value("recursion") == "true");
    CHECK(world.gateway.last_request().query.count("status") == 0);
    client.sessions("active");
    CHECK(world.gateway.last_request().query_value("status") == "active");
}

TEST_CASE("an account is created with its expiry where one is given") {
    World world;
    world.gateway.on("/1.0/accounts", [](const Request& request) { return Json::parse(request.body); });
    GatewayClient client = world.start();
    CHECK(client.create_account("alice").dump() == R"({"name":"alice"})");
    CHECK(client.create_account("alice", "720h").dump() == R"({"name":"alice","expiry":"720h"})");
}

TEST_CASE("deletions say whether to wait and whether to force") {
    World world;
    world.gateway.on("/1.0/sessions/s1", [](const Request&) { return Json(); });
    world.gateway.on("/1.0/sessions", [](const Request& request) { return Json::parse(request.body); });
    GatewayClient client = world.start();
    client.delete_session("s1", patient);
    CHECK(world.gateway.last_request().query_value("sync") == "true");
    CHECK(world.gateway.last_request().query.count("force") == 0);
    CHECK(client.delete_sessions({"s1", "s2"}, {true, false}).dump() == R"({"ids":["s1","s2"]})");
    CHECK(world.gateway.last_request().query_value("sync") == "false");
    CHECK(world.gateway.last_request().query_value("force") == "true");
}

TEST_CASE("ids from outside stay one part of the path") {
    World world;
    world.gateway.refuse("/1.0/sessions/a%2Fb", 404, "session not found");
    GatewayClient client = world.start();
    CHECK(code_of([&] { client.session("a/b"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { client.session(""); }) == ErrorCode::invalid_argument);
}

TEST_CASE("the gateway's refusals keep their text, its absence is unavailable") {
    World world;
    world.gateway.refuse("/1.0/regions", 401, "Authorization failed");
    GatewayClient client = world.start();
    CHECK_THROWS_WITH(client.regions(), "Authorization failed");
    CHECK(code_of([&] { client.regions(); }) == ErrorCode::unauthenticated);
    Target nowhere;
    nowhere.unix_path = "/nonexistent/socket";
    CHECK(code_of([&] { GatewayClient(nowhere).status(); }) == ErrorCode::unavailable);
}
