// Several managers and an OpenID provider that the test plays.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "libsvc/base/guarded.h"
#include "libsvc/base/strings.h"
#include "tests/support/eventually.h"
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
    std::atomic<int> asked{0};                  // for a token
    Guarded<std::shared_future<void>> answers;  // to what comes with a code; none: at once

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
            const auto wait = answers.with([](const auto& future) { return future; });
            ++asked;
            if (wait.valid()) wait.wait();
            return json_text(Json::object({{"id_token", given()}}));
        });
        server.start();
        issuer = server.tcp_target().describe();
    }
    void answers_when(const std::shared_future<void>& ready) {
        answers.with([&](auto& future) { future = ready; });
    }
    std::string given() const {
        return token.with([](const auto& text) { return text; });
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

// What the browser hears when the provider has led it back.
ApiReply end_of(ApiCaller& browser, const ApiReply& begun) {
    const std::string state = percent_encode(parameter(begun.headers.get("Location"), "state"));
    return browser.call(Method::get, "/1.0/oidc/callback?code=c&state=" + state, "",
                        with_cookie(cookie_named(begun, "__Host-svc-login")));
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

    const ApiReply ended = end_of(second, begun);
    REQUIRE(ended.status == 303);
    const std::string page = ended.headers.get("Location");
    REQUIRE_THAT(page, Catch::StartsWith("/ui/#session-key="));
    Headers session = with_cookie(cookie_named(ended, "__Host-svc-session"));
    session.set("X-Svc-Session-Key", parameter(page, "session-key"));
    // The manager that the browser has asked knows the session as soon as it has answered.
    const Json server = second.call(Method::get, "/1.0", "", session).metadata();
    CHECK(server.at("auth_role") == Json("operator"));
    CHECK(server.at("auth_name") == Json("someone"));
    CHECK(server.at("auth_methods") == Json(JsonArray{"2waySSL", "oidc"}));
    CHECK(first.call(Method::get, "/1.0/instances", "", session).status == 200);
    Headers bearer;  // the token that has logged the user in opens nothing
    bearer.set("Authorization", "Bearer " + provider.given());
    CHECK(first.call(Method::get, "/1.0/instances", "", bearer).status == 403);
}

TEST_CASE("a login begins while as many as one address may have wait for the provider") {
    LoopbackProvider provider;
    TestManagers managers(1);
    managers.lead(0);
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"oidc.issuer", provider.issuer}, {"oidc.client_id", "svc"}})
        managers.api(0).set(name, value);
    std::vector<std::future<ApiReply>> callbacks;
    std::promise<void> answer;
    provider.answers_when(answer.get_future().share());
    for (int waiting = 1; waiting <= 4; ++waiting) {
        callbacks.push_back(std::async(std::launch::async, [&] {
            ApiCaller browser(managers.tls_target(0));
            return end_of(browser, browser.get("/1.0/oidc/login"));
        }));
        eventually("the provider is asked", [&] { return provider.asked == waiting; });
    }
    ApiCaller browser(managers.tls_target(0));
    CHECK_THAT(percent_decode(browser.get("/1.0/oidc/callback").headers.get("Location")),
               Catch::Contains("too many logins from 127.0.0.1"));
    const ApiReply begun = browser.get("/1.0/oidc/login");
    CHECK(begun.status == 302);
    CHECK(begun.headers.get("Location").starts_with(provider.issuer + "/auth?"));
    answer.set_value();
}

}  // namespace svc::test
