// Sessions are created, and what their clients and instances are told.
#include "libsvc/base/digest.h"
#include "tests/gateway/session_world.h"
#include "tests/support/golden.h"

namespace svc::test {

TEST_CASE_METHOD(SessionCaller, "a session is created with what its client needs") {
    const ApiReply reply = post("/1.0/sessions", body(R"({"app":"app"})"));
    CHECK(reply.status == 201);
    CHECK(reply.headers.get("Content-Type") == "application/json");
    check_golden("gateway/golden/session_created.json", comparable(reply));
    const std::string url = reply.metadata().at("url").as_string();
    CHECK(url.starts_with("wss://127.0.0.1:"));
    CHECK(url.find("/1.0/sessions/" + reply.metadata().at("id").as_string() + "/sockets/slave?token=") !=
          std::string::npos);
}

TEST_CASE_METHOD(SessionCaller, "the body a client sdk sends is taken as it is") {
    const ApiReply reply = post("/1.0/sessions/", body(R"({"app":"app","region":"","joinable":false,
        "screen":{"width":640,"height":360,"fps":60,"density":240},"extra_data":null})"));
    REQUIRE(reply.status == 201);
    region().await_launches(1);
    const Json user_data = region().launches().at(0).user_data;
    CHECK(user_data.at("display_width") == Json(640));
    CHECK(user_data.at("display_height") == Json(360));
    CHECK(user_data.at("fps") == Json(60));
    CHECK(user_data.at("display_density") == Json(240));
}

TEST_CASE_METHOD(SessionCaller, "the instance learns of its session in its user data") {
    const ApiReply reply = post("/1.0/sessions", body(R"({"app":"app","extra_data":{"level":[1,"two"]}})"));
    REQUIRE(reply.status == 201);
    const std::string id = reply.metadata().at("id").as_string();
    region().await_launches(1);
    const StreamLaunch launch = region().launches().at(0);
    CHECK(launch.session == id);
    CHECK(launch.app == "app");
    CHECK(launch.user_data.at("extra_data") == body(R"({"level":[1,"two"]})"));
    const Json& streaming = launch.user_data.at("streaming");
    CHECK(streaming.at("session_id") == Json(id));
    CHECK(streaming.at("fingerprint") == Json(gateway().fingerprint()));
    CHECK(streaming.at("server_name") == Json("instances.svc-gateway.internal"));
    CHECK(is_sha256_hex(streaming.at("server_fingerprint").as_string()));
    CHECK(streaming.at("server_fingerprint") != streaming.at("fingerprint"));
    CHECK(streaming.at("control_url")
              .as_string()
              .starts_with("wss://" + target().describe().substr(8) + "/1.0/sessions/" + id +
                           "/sockets/master?token="));
    CHECK(streaming.at("metrics_labels") == body(R"({"region":"home","app":"app"})"));
}

TEST_CASE_METHOD(SessionCaller, "faulty creations are refused and launch nothing") {
    const std::vector<std::string> bodies{R"([])",
                                          R"({})",
                                          R"({"app":""})",
                                          R"({"app":7})",
                                          R"({"app":"none"})",
                                          R"({"app":"app","joinable":"yes"})",
                                          R"({"app":"app","idle_time_min":-1})",
                                          R"({"app":"app","screen":{"width":0}})",
                                          R"({"app":"app","screen":{"width":5000,"height":2000}})",
                                          R"({"app":"app","screen":{"fps":0}})",
                                          R"({"app":"app","screen":{"density":71}})",
                                          R"({"app":"app","screen":[]})",
                                          R"({"app":"app","app_version":"latest"})"};
    for (const std::string& text : bodies) {
        INFO(text);
        const ApiReply reply = post("/1.0/sessions", body(text));
        CHECK(reply.status == 400);
        CHECK(reply.json().at("type") == Json("error"));
        CHECK(reply.json().at("status") == Json("failed"));
        CHECK(reply.json().at("status_code") == Json(400));
        CHECK_FALSE(reply.error().empty());
    }
    Headers headers;
    headers.set("Authorization", "Macaroon root=" + alice);
    for (const char* text : {"", "{", "\xff", "{\"app\":\"app\",\"app\":\"b\"}"})
        CHECK(caller().call(Method::post, "/1.0/sessions", text, headers).status == 400);
    CHECK(region().launches().empty());
    CHECK(get("/1.0/sessions").json().at("total_size") == Json(0));
}

TEST_CASE_METHOD(SessionCaller, "a body that is too long is refused") {
    const std::string long_text(70'000, 'x');
    const ApiReply reply = post("/1.0/sessions", Json::object({{"app", "app"}, {"extra_data", long_text}}));
    CHECK(reply.status == 400);
    CHECK(region().launches().empty());
}

TEST_CASE_METHOD(SessionCaller, "names with odd characters are no applications") {
    for (const char* name : {"../etc", "a b", "a\"b", "\xc3\xa9", "a/b", "%00"}) {
        const ApiReply reply = post("/1.0/sessions", Json::object({{"app", name}}));
        INFO(name);
        CHECK(reply.status == 400);
    }
}

TEST_CASE_METHOD(SessionCaller, "a region that does not exist cannot host") {
    const ApiReply reply = post("/1.0/sessions", body(R"({"app":"app","region":"mars"})"));
    CHECK(reply.status == 404);
    CHECK(reply.error() == "No agent available to host the session");
}

TEST_CASE_METHOD(SessionCaller, "the address for the client follows the host it asked") {
    Headers headers;
    headers.set("Authorization", "Macaroon root=" + alice);
    headers.set("Host", "gw.example:4000");
    const std::string create_body = R"({"app":"app"})";
    CHECK(caller()
              .call(Method::post, "/1.0/sessions", create_body, headers)
              .metadata()
              .at("url")
              .as_string()
              .starts_with("wss://gw.example:4000/1.0/sessions/"));
    headers.set("Host", "[2001:db8::1]:4000");
    CHECK(caller()
              .call(Method::post, "/1.0/sessions", create_body, headers)
              .metadata()
              .at("url")
              .as_string()
              .starts_with("wss://[2001:db8::1]:4000/1.0/"));
    const std::size_t before = region().launches().size();
    for (const char* host :
         {"evil.example/x?", "a@b", "a b", "x:99999", "x:", ":1", "a%2fb", "2001:db8::1", "\"><script>"}) {
        INFO(host);
        headers.set("Host", host);
        const ApiReply reply = caller().call(Method::post, "/1.0/sessions", create_body, headers);
        CHECK(reply.status == 400);
    }
    CHECK(region().launches().size() <= before + 2);
    CHECK(local().get("/1.0/sessions").json().at("total_size") == Json(2));
}

TEST_CASE("the public address wins over the host header") {
    TestGateway gateway([](auto& options) { options.public_url = "https://gw.example"; });
    const std::string token = gateway.token("alice");
    CHECK(gateway.create(token).at("url").as_string().starts_with("wss://gw.example/1.0/sessions/"));
    const ApiReply reply = gateway.local().post("/1.0/sessions", body(R"({"app":"app"})"));
    CHECK(reply.metadata().at("url").as_string().starts_with("wss://gw.example/1.0/"));
}

TEST_CASE("the configured servers are told with credentials of their own") {
    TestGateway gateway([](auto& options) {
        options.ice.stun_urls = {"stun:stun.example:3478"};
        options.ice.turn_urls = {"turn:turn.example:3478?transport=udp"};
        options.ice.turn_secret = "shared";
    });
    const Json servers = gateway.create(gateway.token("alice")).at("stun_servers");
    REQUIRE(servers.as_array().size() == 2);
    CHECK(servers.as_array().at(0).at("urls") == Json::array({"stun:stun.example:3478"}));
    CHECK(servers.as_array().at(1).at("urls") == Json::array({"turn:turn.example:3478?transport=udp"}));
    CHECK_FALSE(servers.as_array().at(1).at("username").as_string().empty());
    CHECK_FALSE(servers.as_array().at(1).at("password").as_string().empty());
}

TEST_CASE("creations beyond the limit are refused") {
    TestGateway gateway([](auto& options) { options.limits.creations_per_minute = 2; });
    const std::string token = gateway.token("alice");
    gateway.create(token);
    gateway.create(token);
    const ApiReply reply = gateway.call(Method::post, "/1.0/sessions", token, Json::object({{"app", "app"}}));
    CHECK(reply.status == 400);
    CHECK(reply.error() == "Too many requests");
    CHECK(gateway.create(gateway.token("bob")).at("status") == Json("created"));
    gateway.advance(std::chrono::minutes(1));
    CHECK(gateway.create(token).at("status") == Json("created"));
}

}  // namespace svc::test
