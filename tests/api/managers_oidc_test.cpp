// Several managers and an OpenID provider that the test plays.
#include <catch2/catch.hpp>

#include "libsvc/base/guarded.h"
#include "libsvc/base/strings.h"
#include "tests/support/signing_key.h"
#include "tests/support/test_managers.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

namespace {

Response json_text(const Json& json) {
    return json_response(200, json.dump());
}

// On the loopback. Gives one ID token for whatever code.
struct LoopbackProvider {
    TestServer server;
    SigningKey key = SigningKey::p256("k");
    std::string issuer;  // fixed before anybody asks
    Guarded<std::string> token;

    LoopbackProvider() {
        server.with_tcp = true;
        server.service.add("/.well-known/openid-configuration", [this](Request&) {
            return json_text(Json::object({{"issuer", issuer},
                                           {"authorization_endpoint", issuer + "/auth"},
                                           {"token_endpoint", issuer + "/token"},
                                           {"jwks_uri", issuer + "/keys"}}));
        });
        server.service.add("/keys", [this](Request&) { return json_response(200, key_set({key})); });
        server.service.add("/token", [this](Request&) {
            return json_text(Json::object({{"id_token", token.with([](const auto& text) { return text; })}}));
        });
        server.start();
        issuer = server.tcp_target().describe();
    }
    void will_give(const std::string& nonce, const std::string& role) {
        const std::int64_t now = to_unix_seconds(SystemClock().now());
        const Json claims = Json::object({{"iss", issuer},
                                          {"aud", "svc"},
                                          {"sub", "someone"},
                                          {"roles", Json::array({role})},
                                          {"nonce", nonce},
                                          {"iat", now},
                                          {"exp", now + 60}});
        token.with([&](auto& text) { text = key.token("ES256", claims); });
    }
};

std::string parameter(const std::string& url, const std::string& name) {
    const auto begin = url.find(name + "=") + name.size() + 1;
    return percent_decode(url.substr(begin, url.find('&', begin) - begin));
}

// "name=value" of a Set-Cookie header.
std::string cookie_named(const ApiReply& reply, const std::string& name) {
    for (const auto& [header, value] : reply.headers)
        if (iequals(header, "Set-Cookie") && value.starts_with(name + "="))
            return value.substr(0, value.find(';'));
    return "";
}

Headers with_cookie(const std::string& cookie) {
    Headers headers;
    headers.set("Cookie", cookie);
    return headers;
}

}  // namespace

TEST_CASE("a login begins at one manager and ends at another") {
    LoopbackProvider provider;
    TestManagers managers(3);
    managers.lead(0);
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"oidc.issuer", provider.issuer}, {"oidc.client_id", "svc"}, {"oidc.roles", "ops=operator"}})
        managers.api(1).set(name, value);

    ApiCaller first(managers.tls_target(1)), second(managers.tls_target(2));
    const ApiReply begun = first.get("/1.0/oidc/login");
    REQUIRE(begun.status == 302);
    const std::string url = begun.headers.get("Location");
    CHECK(url.starts_with(provider.issuer + "/auth?"));
    CHECK_THAT(parameter(url, "redirect_uri"), Catch::StartsWith(managers.tls_target(1).describe()));
    provider.will_give(parameter(url, "nonce"), "ops");

    const ApiReply ended =
        second.call(Method::get, "/1.0/oidc/callback?code=c&state=" + percent_encode(parameter(url, "state")),
                    "", with_cookie(cookie_named(begun, "__Host-svc-login")));
    REQUIRE(ended.status == 303);
    CHECK(ended.headers.get("Location") == "/ui/");
    const std::string session = cookie_named(ended, "__Host-svc-session");
    // The manager that the browser has asked knows the session as soon as it has answered.
    const Json server = second.call(Method::get, "/1.0", "", with_cookie(session)).metadata();
    CHECK(server.at("auth_role") == Json("operator"));
    CHECK(server.at("auth_name") == Json("someone"));
    CHECK(server.at("auth_methods") == Json(JsonArray{"2waySSL", "oidc"}));
    CHECK(first.call(Method::get, "/1.0/instances", "", with_cookie(session)).status == 200);
}

}  // namespace svc::test
