// Browsers that are logged in: links, cookies, roles, ends, and pages of other origins.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/eventually.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

Json link_body(const std::string& secret) {
    return Json::object({{"link", secret}});
}

struct SessionSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    ApiCaller browser{daemon.tls_target()};
    const std::string origin =
        "https://" + daemon.tls_target().host + ":" + std::to_string(daemon.tls_target().port);

    std::string link(const char* role = "admin", const char* name = "alice") {
        const ApiReply made = api.post("/1.0/sessions/links", Json::object({{"role", role}, {"name", name}}));
        REQUIRE(made.status == 200);
        return made.metadata().at("secret").as_string();
    }
    // Logs in; the value of the header Cookie.
    std::string log_in(const char* role = "admin", const char* name = "alice") {
        const ApiReply opened = browser.post("/1.0/sessions", link_body(link(role, name)));
        REQUIRE(opened.status == 200);
        const std::string cookie = opened.headers.get("Set-Cookie");
        return cookie.substr(0, cookie.find(';'));
    }
    Headers with(const std::string& cookie, bool own_page = true) const {
        Headers headers;
        headers.set("Cookie", cookie);
        if (own_page) headers.set("Origin", origin);
        return headers;
    }
    ApiReply get(const std::string& path, const std::string& cookie) {
        return browser.call(Method::get, path, "", with(cookie, false));
    }
    ApiReply call(Method method, const std::string& path, const std::string& cookie,
                  const std::string& body = "") {
        return browser.call(method, path, body, with(cookie));
    }
    Json only_session() {
        const Json all = api.get("/1.0/sessions").metadata();
        REQUIRE(all.as_array().size() == 1);
        return all.as_array().at(0);
    }
};

}  // namespace

TEST_CASE_METHOD(SessionSetup, "a link logs one browser in") {
    const ApiReply made = api.post("/1.0/sessions/links", Json::object());
    const std::string secret = made.metadata().at("secret").as_string();
    const std::string url = made.metadata().at("urls").as_array().at(0).as_string();
    CHECK(url == origin + "/ui/#login=" + secret);
    const ApiReply opened = browser.post("/1.0/sessions", link_body(secret));
    CHECK(opened.metadata().at("role") == Json("admin"));
    CHECK(opened.metadata().at("current") == Json(true));
    CHECK(opened.text.find(secret) == std::string::npos);
    CHECK_THAT(opened.headers.get("Set-Cookie"),
               Catch::StartsWith("__Host-svc-session=") &&
                   Catch::EndsWith("; Path=/; Secure; HttpOnly; SameSite=Strict"));
    const ApiReply again = browser.post("/1.0/sessions", link_body(secret));
    CHECK(again.status == 403);
    CHECK(again.error() == "Not Authorized");
    CHECK(again.headers.get("Set-Cookie").empty());
}

TEST_CASE_METHOD(SessionSetup, "bad logins are refused") {
    CHECK(browser.call(Method::post, "/1.0/sessions", "[").status == 400);
    CHECK(browser.post("/1.0/sessions", Json::object()).error() == "link is required");
    CHECK(browser.post("/1.0/sessions/links", Json::object()).error() == "Not Authorized");
    CHECK(api.post("/1.0/sessions", link_body(link())).error() == "a session is opened over TLS");
    CHECK(api.post("/1.0/sessions/links", Json::object({{"role", "root"}})).status == 400);
    CHECK(api.post("/1.0/sessions/links", Json::object({{"name", "a\nb"}})).status == 400);
    for (int wrong = 0; wrong < 5; ++wrong)
        CHECK(browser.post("/1.0/sessions", link_body("guess")).error() == "Not Authorized");
    CHECK_THAT(browser.post("/1.0/sessions", link_body("guess")).error(), Catch::Contains("try again in"));
    CHECK(browser.post("/1.0/sessions", link_body(link())).status == 200);
}

TEST_CASE_METHOD(SessionSetup, "a session has the role of its link") {
    const std::string cookie = log_in("viewer");
    const Json server = get("/1.0", cookie).metadata();
    CHECK(server.at("auth") == Json("trusted"));
    CHECK(server.at("auth_role") == Json("viewer"));
    CHECK(server.at("auth_name") == Json("alice"));
    CHECK(get("/1.0/instances", cookie).status == 200);
    CHECK(call(Method::post, "/1.0/instances", cookie, "{}").error() ==
          "Not Authorized: this needs the role operator, and alice has viewer");
    CHECK(call(Method::post, "/1.0/instances", log_in("operator"), "{}").status == 400);
    CHECK(get("/1.0/instances", cookie + "0").status == 403);
    CHECK(get("/1.0/instances", "__Host-svc-session=").status == 403);
    CHECK(get("/1.0/instances", "a=b; " + cookie + "; c=d").status == 200);
}

TEST_CASE_METHOD(SessionSetup, "passwords of proxies are for admins") {
    const auto proxy_seen_by = [&](const std::string& cookie) {
        return get("/1.0/config", cookie).metadata().at("config").at("core.proxy_http").as_string();
    };
    const auto set = [&](const std::string& value) {
        api.succeed(api.patch("/1.0/config", Json::object({{"name", "core.proxy_http"}, {"value", value}})));
    };
    const std::string viewer = log_in("viewer"), admin = log_in("admin");
    set("http://alice:hush@proxy:3128");
    CHECK(proxy_seen_by(viewer) == "http://***@proxy:3128");
    CHECK(proxy_seen_by(admin) == "http://alice:hush@proxy:3128");
    set("http://proxy:3128/@");
    CHECK(proxy_seen_by(viewer) == "http://proxy:3128/@");
}

TEST_CASE_METHOD(SessionSetup, "operations name the user of a session") {
    const std::string cookie = log_in();
    const ApiReply changed =
        call(Method::patch, "/1.0/config", cookie, R"({"name":"gpu.type","value":"none"})");
    REQUIRE(changed.status == 202);
    CHECK(changed.metadata().at("requestor") == Json("session=alice"));
}

TEST_CASE_METHOD(SessionSetup, "a cookie counts over the TLS listener alone") {
    const std::string cookie = log_in("viewer");
    CHECK(api.call(Method::get, "/1.0", "", with(cookie)).metadata().at("auth_role") == Json("admin"));
    ApiCaller inside(daemon.agent_target());
    CHECK(inside.call(Method::get, "/1.0/artifacts", "", with(cookie)).status == 401);
}

TEST_CASE_METHOD(SessionSetup, "users see and end their own sessions, admins all") {
    const std::string alice = log_in("operator", "alice");
    const std::string bob = log_in("viewer", "bob");
    CHECK(api.get("/1.0/sessions").metadata().as_array().size() == 2);
    const Json page = api.get("/1.0/sessions?recursion=1&offset=1&limit=1").json();
    CHECK(page.at("total_size") == Json(2));
    CHECK(page.at("metadata").as_array().at(0).at("name") == Json("bob"));
    CHECK(api.get("/1.0/sessions?recursion=2").status == 400);
    const Json own = get("/1.0/sessions", bob).metadata();
    REQUIRE(own.as_array().size() == 1);
    CHECK(own.as_array().at(0).at("name") == Json("bob"));
    CHECK(own.as_array().at(0).at("current") == Json(true));
    CHECK(own.as_array().at(0).find("secret_hash") == nullptr);
    const std::string alices = get("/1.0/sessions", alice).metadata().as_array().at(0).at("id").as_string();
    CHECK(call(Method::delete_, "/1.0/sessions/" + alices, bob).error() == "session not found");
    CHECK(get("/1.0/instances", alice).status == 200);
    CHECK(api.remove("/1.0/sessions/" + alices).status == 200);
    CHECK(get("/1.0/instances", alice).error() == "Not Authorized");
    CHECK(api.remove("/1.0/sessions/" + alices).status == 404);
    CHECK(api.remove("/1.0/sessions/current").error() == "session not found");
}

TEST_CASE_METHOD(SessionSetup, "logging out ends the session and its WebSockets") {
    const std::string cookie = log_in();
    WebSocketClient events(daemon.tls_target(), "/1.0/events?type=lifecycle", with(cookie));
    const ApiReply out = call(Method::delete_, "/1.0/sessions/current", cookie);
    CHECK(out.status == 200);
    CHECK_THAT(out.headers.get("Set-Cookie"), Catch::EndsWith("; Max-Age=0"));
    const auto last = events.receive(long_wait);
    REQUIRE(last);
    CHECK(last->kind == WebSocketMessage::Kind::closed);
    CHECK(last->close_code == 1008);
    CHECK(last->data == "session has ended");
    CHECK(get("/1.0/instances", cookie).status == 403);
}

TEST_CASE_METHOD(SessionSetup, "a session survives a restart, an open link does not") {
    const std::string cookie = log_in();
    const std::string open = link();
    daemon.restart();
    ApiCaller later(daemon.tls_target());
    CHECK(later.call(Method::get, "/1.0/instances", "", with(cookie, false)).status == 200);
    CHECK(later.post("/1.0/sessions", link_body(open)).status == 403);
}

TEST_CASE_METHOD(SessionSetup, "a browser that logs in again has one session") {
    const std::string former = log_in();
    const ApiReply opened = call(Method::post, "/1.0/sessions", former, link_body(link("viewer")).dump());
    REQUIRE(opened.status == 200);
    CHECK(only_session().at("id") == opened.metadata().at("id"));
    CHECK(get("/1.0/instances", former).status == 403);
    // A wrong link ends nothing.
    const std::string set = opened.headers.get("Set-Cookie");
    const std::string cookie = set.substr(0, set.find(';'));
    CHECK(call(Method::post, "/1.0/sessions", cookie, link_body("guess").dump()).status == 403);
    CHECK(get("/1.0/instances", cookie).status == 200);
}

TEST_CASE_METHOD(SessionSetup, "nobody gets more from a link than its maker has") {
    const std::string cookie = log_in("operator");
    const auto make = [&](const std::string& body) {
        return call(Method::post, "/1.0/sessions/links", cookie, body);
    };
    CHECK(make(R"({"role":"admin"})").error() == "a link cannot give the role admin: alice has operator");
    CHECK(make(R"({"name":"root"})").error() == "only the role admin makes links for others");
    const ApiReply made = make(R"({"role":"viewer"})");
    REQUIRE(made.status == 200);
    const Json opened =
        browser.post("/1.0/sessions", link_body(made.metadata().at("secret").as_string())).metadata();
    CHECK(opened.at("role") == Json("viewer"));
    CHECK(opened.at("name") == Json("alice"));
}

TEST_CASE_METHOD(SessionSetup, "a session ends with the trust in the certificate whose owner made its link") {
    const KeyPair keys = make_key_pair(daemon.path(), "client");
    const std::string url = "/1.0/certificates/" + parse_certificate(read_file(keys.certificate)).fingerprint;
    daemon.trust(keys);
    ApiCaller owner(daemon.tls_target(keys));
    const Json made = owner.post("/1.0/sessions/links", Json::object()).metadata();
    const std::string set =
        browser.post("/1.0/sessions", link_body(made.at("secret").as_string())).headers.get("Set-Cookie");
    const std::string cookie = set.substr(0, set.find(';'));
    CHECK(get("/1.0", cookie).metadata().at("auth_role") == Json("admin"));
    CHECK(api.patch(url, Json::object({{"role", "viewer"}})).status == 200);
    CHECK(get("/1.0", cookie).metadata().at("auth_role") == Json("viewer"));
    WebSocketClient events(daemon.tls_target(), "/1.0/events?type=lifecycle", with(cookie));
    api.succeed(api.remove(url));
    CHECK(events.receive(long_wait)->close_code == 1008);
    CHECK(get("/1.0/instances", cookie).status == 403);
    CHECK(api.get("/1.0/sessions").metadata() == Json::array());
}

namespace {

struct OriginSetup : SessionSetup {
    KeyPair keys = make_key_pair(daemon.path(), "client");
    std::string cookie = log_in();

    ApiReply ask(Method method, const char* name, const std::string& value, bool with_cookie) {
        Headers headers;
        if (*name != '\0') headers.set(name, value);
        if (with_cookie) headers.set("Cookie", cookie);
        ApiCaller caller(daemon.tls_target(keys));
        return caller.call(method, "/1.0/instances", method == Method::post ? "{}" : "", headers);
    }
};

}  // namespace

TEST_CASE_METHOD(OriginSetup, "pages of other origins change nothing, by cookie or by certificate") {
    daemon.trust(keys);
    const std::string elsewhere = "requests of pages of another origin are refused: 'https://evil.example'";
    for (const bool by_cookie : {true, false}) {
        INFO(by_cookie);
        CHECK(ask(Method::post, "Origin", "https://evil.example", by_cookie).error() == elsewhere);
        CHECK(ask(Method::post, "Origin", "null", by_cookie).status == 403);
        CHECK(ask(Method::post, "Origin", "http" + origin.substr(5), by_cookie).status == 403);
        CHECK(ask(Method::post, "Sec-Fetch-Site", "cross-site", by_cookie).status == 403);
        CHECK(ask(Method::post, "Sec-Fetch-Site", "same-site", by_cookie).status == 403);
        CHECK(ask(Method::post, "Origin", origin, by_cookie).status == 400);
        CHECK(ask(Method::post, "Sec-Fetch-Site", "same-origin", by_cookie).status == 400);
        CHECK(ask(Method::get, "Origin", "https://evil.example", by_cookie).status == 200);
    }
    CHECK(ask(Method::post, "", "", true).error() ==
          "a request with a session's cookie needs the header Origin");
    CHECK(ask(Method::post, "Sec-Fetch-Site", "none", true).status == 403);
    CHECK(ask(Method::post, "", "", false).status == 400);  // no browser
}

TEST_CASE_METHOD(OriginSetup, "pages of other origins open no WebSocket and log nobody in") {
    Headers other = with(cookie);
    other.set("Origin", "https://evil.example");
    CHECK_THROWS_AS(WebSocketClient(daemon.tls_target(), "/1.0/events", other), Error);
    CHECK_THROWS_AS(WebSocketClient(daemon.tls_target(), "/1.0/events", with(cookie, false)), Error);
    CHECK_NOTHROW(WebSocketClient(daemon.tls_target(), "/1.0/events", with(cookie)));
    Headers page;
    page.set("Origin", "https://evil.example");
    CHECK(browser.call(Method::post, "/1.0/sessions", link_body(link()).dump(), page).status == 403);
}

}  // namespace svc::test
