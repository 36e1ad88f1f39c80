#include <catch2/catch.hpp>

#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

Headers from(const std::string& origin) {
    Headers headers;
    headers.set("Origin", origin);
    return headers;
}

}  // namespace

TEST_CASE("cors preflight of every route is answered without a token") {
    TestGateway gateway;
    for (const std::string& route : gateway.gateway().routes()) {
        const std::string path = route.substr(route.find(' ') + 1);
        INFO(path);
        Headers headers = from("https://app.example");
        headers.set("Access-Control-Request-Method", "POST");
        headers.set("Access-Control-Request-Headers", "authorization,content-type");
        for (const std::string& asked : {path, path.ends_with('/') ? path : path + "/"}) {
            const ApiReply reply = gateway.caller().call(Method::options, asked, "", headers);
            CHECK(reply.status == 204);
            CHECK(reply.headers.get("Access-Control-Allow-Origin") == "*");
            CHECK(reply.headers.get("Access-Control-Allow-Methods") == "GET, POST, DELETE, OPTIONS");
            CHECK(reply.headers.get("Access-Control-Allow-Headers") == "Authorization, Content-Type, Accept");
            CHECK(reply.text.empty());
        }
    }
    CHECK(gateway.caller().call(Method::options, "/1.0/nothing").status == 404);
}

TEST_CASE("other origins may read answers and refusals") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    const std::vector<ApiReply> replies{
        gateway.caller().get("/1.0/status"),
        gateway.caller().get("/1.0/sessions"),
        gateway.caller().get("/nothing"),
        gateway.call(Method::get, "/1.0/sessions", token),
        gateway.call(Method::post, "/1.0/sessions", token, Json::array()),
        gateway.call(Method::delete_, "/1.0/sessions/00000000000000000000?sync=true", token),
        gateway.call(Method::post, "/1.0/sessions", token, Json(std::string(1U << 20U, 'x')))};
    const std::vector<int> statuses{200, 401, 404, 200, 400, 404, 400};
    for (std::size_t i = 0; i < replies.size(); ++i) {
        INFO(i);
        CHECK(replies[i].status == statuses[i]);
        CHECK(replies[i].headers.get("Access-Control-Allow-Origin") == "*");
        CHECK(replies[i].headers.get("X-Content-Type-Options") == "nosniff");
    }
}

TEST_CASE("configured origins alone may read") {
    TestGateway gateway([](auto& options) { options.allowed_origins = {"https://app.example"}; });
    const ApiReply ours =
        gateway.caller().call(Method::options, "/1.0/sessions", "", from("https://app.example"));
    CHECK(ours.status == 204);
    CHECK(ours.headers.get("Access-Control-Allow-Origin") == "https://app.example");
    CHECK(ours.headers.get("Vary") == "Origin");
    for (const char* origin : {"https://evil.example", "null", ""}) {
        const ApiReply theirs = gateway.caller().call(Method::get, "/1.0/status", "", from(origin));
        CHECK(theirs.headers.find("Access-Control-Allow-Origin") == nullptr);
        CHECK(theirs.headers.get("Vary") == "Origin");
    }
}

}  // namespace svc::test
