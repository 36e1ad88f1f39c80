// Browsers that are logged in: links, cookies and keys, roles, ends, and pages of other origins.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/login/session_cookie.h"
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
    std::map<std::string, std::string> keys;  // by cookie
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
        return keep(opened);
    }
    // The value of the header Cookie of a session that is opened, whose key with() adds from now on.
    std::string keep(const ApiReply& opened) {
        const std::string set = opened.headers.get("Set-Cookie");
        const std::string cookie = set.substr(0, set.find(';'));
        keys[cookie] = opened.metadata().at("key").as_string();
        return cookie;
    }
    Headers with(const std::string& cookie, bool own_page = true) const {
        Headers headers;
        headers.set("Cookie", cookie);
        const auto key = keys.find(cookie);
        if (key != keys.end()) headers.set("X-Svc-Session-Key", key->second);
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
    const std::string among_others = "a=b; " + cookie + "; c=d";
    keys[among_others] = keys.at(cookie);
    CHECK(get("/1.0/instances", among_others).status == 200);
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

TEST_CASE_METHOD(SessionSetup, "a cookie counts with its own key alone") {
    const std::string cookie = log_in("admin"), others = log_in("admin", "bob");
    const char* const refusal = "Not Authorized: the cookie of a session counts with its key alone";
    Headers headers;
    headers.set("Cookie", cookie);
    headers.set("Origin", origin);
    const auto ask = [&](Method method, const char* path) {
        return browser.call(method, path, method == Method::post ? "{}" : "", headers);
    };
    for (const std::string& key : {std::string(), std::string("wrong"), keys.at(others)}) {
        INFO(key);
        if (!key.empty()) headers.set("X-Svc-Session-Key", key);
        CHECK(ask(Method::get, "/1.0").metadata().at("auth") == Json("guest"));
        CHECK(ask(Method::get, "/1.0/config").error() == refusal);
        CHECK(ask(Method::post, "/1.0/sessions/links").error() == refusal);
        CHECK_THROWS_AS(WebSocketClient(daemon.tls_target(), "/1.0/events", headers), Error);
    }
    headers.set("X-Svc-Session-Key", keys.at(cookie));
    CHECK(ask(Method::get, "/1.0/config").status == 200);
}

TEST_CASE_METHOD(SessionSetup, "a key counts with its own cookie alone, and is told once") {
    const std::string cookie = log_in();
    Headers headers;
    headers.set("X-Svc-Session-Key", keys.at(cookie));
    CHECK(browser.call(Method::get, "/1.0/config", "", headers).error() == "Not Authorized");
    CHECK(api.get("/1.0/sessions").text.find(keys.at(cookie)) == std::string::npos);
    CHECK(only_session().find("key_hash") == nullptr);
}

TEST_CASE_METHOD(SessionSetup, "a page hands its key to a WebSocket as a subprotocol") {
    const std::string cookie = log_in();
    Headers headers;
    headers.set("Cookie", cookie);
    headers.set("Origin", origin);
    headers.set("Sec-WebSocket-Protocol", "svc, svc-session-key." + keys.at(cookie));
    CHECK_NOTHROW(WebSocketClient(daemon.tls_target(), "/1.0/events", headers));
    headers.set("Sec-WebSocket-Protocol", "svc, svc-session-key.wrong");
    CHECK_THROWS_AS(WebSocketClient(daemon.tls_target(), "/1.0/events", headers), Error);
}

TEST_CASE_METHOD(SessionSetup, "a ticket downloads one path with the cookie it was made for") {
    const std::string alice = log_in("viewer"), bob = log_in("viewer", "bob");
    const ApiReply made = call(Method::post, "/1.0/sessions/tickets", alice, R"({"path":"/1.0/config"})");
    REQUIRE(made.status == 200);
    const std::string query = "?ticket=" + percent_encode(made.metadata().at("ticket").as_string());
    const auto navigate = [&](Method method, const std::string& path, const std::string& cookie) {
        Headers headers;
        if (!cookie.empty()) headers.set("Cookie", cookie);
        headers.set("Origin", origin);
        return browser.call(method, path, "", headers).status;
    };
    CHECK(navigate(Method::get, "/1.0/config" + query, alice) == 200);
    CHECK(navigate(Method::get, "/1.0/nodes" + query, alice) == 403);
    CHECK(navigate(Method::patch, "/1.0/config" + query, alice) == 403);
    CHECK(navigate(Method::get, "/1.0/config" + query, bob) == 403);
    CHECK(navigate(Method::get, "/1.0/config" + query, "") == 403);
    CHECK(navigate(Method::get, "/1.0/config" + query + "0", alice) == 403);
    CHECK(call(Method::delete_, "/1.0/sessions/current", alice).status == 200);
    CHECK(navigate(Method::get, "/1.0/config" + query, alice) == 403);
    CHECK(call(Method::post, "/1.0/sessions/tickets", bob, "{}").error() == "path is required");
    CHECK(api.post("/1.0/sessions/tickets", Json::object({{"path", "/1.0"}})).error() ==
          "tickets are for sessions");
}

TEST_CASE_METHOD(SessionSetup, "a session's end ends what it has made") {
    const std::string cookie = log_in("admin");
    const auto invite = [&](const std::string& from) {
        const ApiReply made = call(Method::post, "/1.0/sessions/links", from, R"({"role":"viewer"})");
        return link_body(made.metadata().at("secret").as_string());
    };
    const std::string child = keep(browser.post("/1.0/sessions", invite(cookie)));
    const std::string grandchild = keep(browser.post("/1.0/sessions", invite(child)));
    const Json open = invite(cookie), others = link_body(link("viewer", "bob"));
    CHECK(call(Method::delete_, "/1.0/sessions/current", cookie).status == 200);
    CHECK(get("/1.0/instances", child).status == 403);
    CHECK(get("/1.0/instances", grandchild).status == 403);
    CHECK(browser.post("/1.0/sessions", open).error() == "Not Authorized");
    CHECK(browser.post("/1.0/sessions", others).status == 200);
}

TEST_CASE_METHOD(SessionSetup, "a browser that follows its own link goes on with the new session") {
    const std::string former = log_in("admin");
    const ApiReply made = call(Method::post, "/1.0/sessions/links", former, R"({"role":"viewer"})");
    const std::string cookie = keep(call(Method::post, "/1.0/sessions", former,
                                         link_body(made.metadata().at("secret").as_string()).dump()));
    CHECK(get("/1.0/instances", former).status == 403);
    CHECK(get("/1.0", cookie).metadata().at("auth_role") == Json("viewer"));
}

TEST_CASE_METHOD(SessionSetup, "viewers hear of no logins") {
    const std::string cookie = log_in("viewer");
    WebSocketClient events(daemon.tls_target(), "/1.0/events?type=logging", with(cookie));
    const log::Level former = log::level();
    log::set_level(log::Level::info);
    log_in("admin", "chief");
    browser.post("/1.0/sessions", link_body("guess"));
    log::info("the last line");
    log::set_level(former);
    const auto first = events.receive(long_wait);
    REQUIRE(first);
    CHECK(Json::parse(first->data).at("metadata").at("message") == Json("the last line"));
}

TEST_CASE("what a page asks and connects by itself is no use of a session") {
    Request request;
    CHECK(server::is_use(request));
    request.headers.set("X-Svc-Background", "1");
    CHECK_FALSE(server::is_use(request));
    Request socket;
    socket.headers.set("Connection", "Upgrade");
    socket.headers.set("Upgrade", "websocket");
    CHECK_FALSE(server::is_use(socket));
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
    const std::string cookie = keep(opened);
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
    const std::string cookie = keep(browser.post("/1.0/sessions", link_body(made.at("secret").as_string())));
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
    KeyPair certificate = make_key_pair(daemon.path(), "client");
    std::string cookie = log_in();

    ApiReply ask(Method method, const char* name, const std::string& value, bool with_cookie) {
        Headers headers;
        if (*name != '\0') headers.set(name, value);
        if (with_cookie) headers.set("Cookie", cookie);
        if (with_cookie) headers.set("X-Svc-Session-Key", keys.at(cookie));
        ApiCaller caller(daemon.tls_target(certificate));
        return caller.call(method, "/1.0/instances", method == Method::post ? "{}" : "", headers);
    }
};

}  // namespace

TEST_CASE_METHOD(OriginSetup, "pages of other origins change nothing, by cookie or by certificate") {
    daemon.trust(certificate);
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
