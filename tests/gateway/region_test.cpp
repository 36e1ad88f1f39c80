#include <catch2/catch.hpp>

#include "tests/support/golden.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

void with_two_regions(gateway::Options& options) {
    options.regions = {{"east", {"https://127.0.0.1:1"}, "", "", "", ""},
                       {"west", {"https://127.0.0.1:2"}, "", "", "", ""}};
}

// All regions but this one have answered again since.
void go_away(TestGateway& gateway, const std::string& region) {
    gateway.region(region).set_answers(false);
    const std::size_t left = gateway.options().regions.size() - 1;
    gateway.clock().advance(std::chrono::seconds(20));
    eventually("a region is away",
               [&] { return gateway.local().get("/1.0/status").metadata().at("agents") == Json(left); });
}

}  // namespace

TEST_CASE("regions and applications are listed by name") {
    TestGateway gateway(with_two_regions);
    const std::string token = gateway.token("alice");
    gateway.region("west").set_applications({"game", "app"});
    gateway.advance(std::chrono::seconds(6));
    eventually("the applications of both", [&] {
        return gateway.call(Method::get, "/1.0/applications", token).metadata().as_array().size() == 2;
    });
    check_golden("gateway/golden/applications.json",
                 gateway.call(Method::get, "/1.0/applications/", token).json());
    check_golden("gateway/golden/regions.json", gateway.call(Method::get, "/1.0/regions/", token).json());
}

TEST_CASE("an application without a streamer is said to have none and is not started") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    gateway.region().add_application({"greeter", {{0, false}}});
    gateway.advance(std::chrono::seconds(6));
    const auto listed = [&] { return gateway.call(Method::get, "/1.0/applications", token).metadata(); };
    eventually("the application is listed", [&] { return listed().as_array().size() == 2; });
    CHECK(listed() == Json::parse(R"([{"name":"app","streams":true},{"name":"greeter","streams":false}])"));
    const ApiReply reply =
        gateway.call(Method::post, "/1.0/sessions", token, Json::object({{"app", "greeter"}}));
    CHECK(reply.status == 400);
    CHECK(reply.error() == "application 'greeter' does not stream: it has no addon with a streamer");
    CHECK(gateway.region().launches().empty());
}

TEST_CASE("a region that is down is not listed and hosts nothing") {
    TestGateway gateway(with_two_regions);
    const std::string token = gateway.token("alice");
    go_away(gateway, "west");
    const Json regions = gateway.call(Method::get, "/1.0/regions", token).metadata();
    CHECK(regions == Json::array({Json::object({{"name", "east"}})}));
    for (int i = 0; i < 4; ++i) CHECK(gateway.create(token).at("region") == Json("east"));
    const ApiReply reply = gateway.call(Method::post, "/1.0/sessions", token,
                                        Json::object({{"app", "app"}, {"region", "west"}}));
    CHECK(reply.status == 404);
    CHECK(reply.error() == "No agent available to host the session");
}

TEST_CASE("without any region a session has no place") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    go_away(gateway, "home");
    const ApiReply reply = gateway.call(Method::post, "/1.0/sessions", token, Json::object({{"app", "app"}}));
    CHECK(reply.status == 404);
    CHECK(reply.error() == "No agent available to host the session");
    CHECK(gateway.call(Method::get, "/1.0/sessions", token).json().at("total_size") == Json(0));
}

TEST_CASE("the region with fewest sessions for its cpus hosts the next one") {
    TestGateway gateway(with_two_regions);
    const std::string token = gateway.token("alice");
    gateway.region("west").set_cpus(12);
    gateway.region("west").set_applications({"app", "new"});
    gateway.advance(std::chrono::seconds(6));
    eventually("the region was asked again", [&] {
        return gateway.call(Method::get, "/1.0/applications", token).metadata().as_array().size() == 2;
    });
    std::map<std::string, int> hosted;
    for (int i = 0; i < 8; ++i) ++hosted[gateway.create(token).at("region").as_string()];
    CHECK(hosted["west"] > hosted["east"]);
}

TEST_CASE("a wanted region hosts the session") {
    TestGateway gateway(with_two_regions);
    const std::string token = gateway.token("alice");
    for (const char* region : {"west", "west", "east"})
        CHECK(gateway.create(token, Json::object({{"app", "app"}, {"region", region}})).at("region") ==
              Json(region));
}

TEST_CASE("a region without room is passed over and the reason of a failed launch is told") {
    TestGateway gateway(with_two_regions);
    const std::string token = gateway.token("alice");
    const std::string full = "No suitable node to satisfy container requirement available (node0: offline)";
    gateway.region("west").set_full(full);
    gateway.create(token, Json::object({{"app", "app"}, {"region", "east"}}));  // so it begins in the west
    const std::string id = gateway.create(token).at("id").as_string();
    eventually("the session is in the other region", [&] {
        const Json session = gateway.call(Method::get, "/1.0/sessions/" + id, token).metadata();
        return session.at("region") == Json("east") && session.at("status") == Json("created") &&
               !session.at("container_id").as_string().empty();
    });
    const std::string wanted =
        gateway.create(token, Json::object({{"app", "app"}, {"region", "west"}})).at("id").as_string();
    const Json failed = gateway.await_status(token, wanted, "error");
    CHECK(failed.at("status_message") == Json(full));
    CHECK(failed.at("region") == Json("west"));
}

}  // namespace svc::test
