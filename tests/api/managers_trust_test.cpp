// Several managers: limits that count for all of them, and trust and configuration that take effect at all.
#include <catch2/catch.hpp>
#include <future>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/cluster/api_addresses.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"
#include "tests/support/test_managers.h"
#include "tests/support/tls_client.h"

namespace svc::test {

namespace {

using namespace std::chrono_literals;

std::string guess(TestManagers& managers, std::size_t asked) {
    ApiCaller guest(managers.tls_target(asked));
    const std::string certificate = read_file(make_key_pair(managers.path(), "guest").certificate);
    return guest
        .post("/1.0/certificates", Json::object({{"certificate", certificate}, {"trust-password", "wrong"}}))
        .error();
}

// Requests of one client, one after the other at each manager and at all of them at once.
void ask_all(TestManagers& managers, std::size_t count, int requests_of_each) {
    std::vector<std::future<void>> clients;
    for (std::size_t manager = 0; manager < count; ++manager)
        clients.push_back(std::async(std::launch::async, [&, manager] {
            ApiCaller guest(managers.tls_target(manager));
            for (int request = 0; request < requests_of_each; ++request)
                if (guest.get("/1.0").status != 200) throw Error(ErrorCode::internal, "not answered");
        }));
    for (auto& client : clients) client.get();
}

}  // namespace

TEST_CASE("a client that spreads its requests over all managers gets what one of them allows") {
    constexpr int rate = 20, of_each = 50;
    TestManagers managers(3, [](server::Options& options) { options.max_requests_per_second = rate; });
    const auto begin = std::chrono::steady_clock::now();
    ask_all(managers, 3, of_each);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    // By itself each would answer the requests of a second at once and 20 a second then: all within 1.5 s.
    // One alone would take 6.5 s; here each may answer the first ones at once.
    CHECK(took.count() > 3);
}

TEST_CASE("wrong passwords at different managers count together") {
    TestManagers managers(3);
    managers.lead(0);
    managers.api(1).set("core.trust_password", "secret");
    for (const std::size_t asked : {0U, 1U, 2U, 1U, 2U})
        CHECK(guess(managers, asked) == "Bad password provided");
    for (const std::size_t asked : {0U, 1U, 2U})
        CHECK_THAT(guess(managers, asked), Catch::StartsWith("too many wrong passwords: try again in "));
    // A new leader counts anew, as a service does that was started again: five tries, and no more.
    managers.kill(0);
    managers.lead(1);
    for (const std::size_t asked : {1U, 2U, 1U, 2U, 1U})
        CHECK(guess(managers, asked) == "Bad password provided");
    CHECK_THAT(guess(managers, 2), Catch::StartsWith("too many wrong passwords: try again in "));
}

TEST_CASE("a certificate that is removed at one manager loses its connections at all of them") {
    TestManagers managers(3);
    managers.lead(0);
    const KeyPair user = make_key_pair(managers.path(), "user");
    const std::string fingerprint = parse_certificate(read_file(user.certificate)).fingerprint;
    REQUIRE(managers.api(1)
                .post("/1.0/certificates", Json::object({{"certificate", read_file(user.certificate)}}))
                .status == 200);
    std::vector<std::unique_ptr<WebSocketClient>> events;
    for (const std::size_t asked : {0U, 1U, 2U})
        events.push_back(std::make_unique<WebSocketClient>(managers.tls_target(asked, user),
                                                           "/1.0/events?type=lifecycle"));
    managers.api(2).succeed(managers.api(2).remove("/1.0/certificates/" + fingerprint));
    for (const auto& each : events) {
        const auto last = each->receive(1min);
        REQUIRE(last);
        CHECK(last->kind == WebSocketMessage::Kind::closed);
        CHECK(last->close_code == 1008);
    }
    for (const std::size_t asked : {0U, 1U, 2U})
        CHECK(ApiCaller(managers.tls_target(asked, user)).get("/1.0/images").status == 403);
}

TEST_CASE("a role is the same at all managers, and what is passed on has it") {
    TestManagers managers(2);
    managers.lead(0);
    const KeyPair user = make_key_pair(managers.path(), "user");
    const std::string pem = read_file(user.certificate);
    const std::string url = "/1.0/certificates/" + parse_certificate(pem).fingerprint;
    const Json body = Json::object({{"certificate", pem}, {"role", "viewer"}});
    REQUIRE(managers.api(1).post("/1.0/certificates", body).status == 200);
    for (const std::size_t asked : {0U, 1U}) {
        ApiCaller client(managers.tls_target(asked, user));
        CHECK(client.get("/1.0/operations").status == 200);
        CHECK(client.get("/1.0/instances").status == 200);
        CHECK(client.post("/1.0/instances", Json::object()).status == 403);
    }
    REQUIRE(managers.api(1).patch(url, Json::object({{"role", "operator"}})).status == 200);
    ApiCaller client(managers.tls_target(1, user));
    CHECK(client.post("/1.0/instances", Json::object()).status == 400);  // by the leader, for its body
    CHECK(client.post("/1.0/nodes", Json::object()).status == 403);
}

TEST_CASE("a browser that has logged in at one manager is logged in at all of them, until it logs out") {
    TestManagers managers(3);
    managers.lead(0);
    const Json link =
        managers.api(1).post("/1.0/sessions/links", Json::object({{"name", "alice"}})).metadata();
    ApiCaller browser(managers.tls_target(2));
    const ApiReply opened = browser.post("/1.0/sessions", Json::object({{"link", link.at("secret")}}));
    REQUIRE(opened.status == 200);
    const std::string set = opened.headers.get("Set-Cookie");
    const auto from_page = [&](std::size_t asked) {
        const Target target = managers.tls_target(asked);
        Headers headers;
        headers.set("Cookie", set.substr(0, set.find(';')));
        // As a WebSocket of a page shows it, and to any manager.
        headers.set("Sec-WebSocket-Protocol",
                    "svc, svc-session-key." + opened.metadata().at("key").as_string());
        headers.set("Origin", "https://" + target.host + ":" + std::to_string(target.port));
        return headers;
    };
    std::vector<std::unique_ptr<WebSocketClient>> events;
    for (const std::size_t asked : {0U, 1U, 2U}) {
        managers.api(asked).get(
            "/1.0/operations/none");  // waits for the leader, whose records this manager has then
        ApiCaller page(managers.tls_target(asked));
        const std::string change = R"({"name":"gpu.type","value":"none"})";
        const ApiReply changed = page.call(Method::patch, "/1.0/config", change, from_page(asked));
        REQUIRE(changed.status == 202);
        CHECK(changed.metadata().at("requestor") == Json("session=alice"));
        events.push_back(std::make_unique<WebSocketClient>(managers.tls_target(asked),
                                                           "/1.0/events?type=lifecycle", from_page(asked)));
    }
    CHECK(browser.call(Method::delete_, "/1.0/sessions/current", "", from_page(2)).status == 200);
    for (const auto& each : events) CHECK(each->receive(1min)->close_code == 1008);
    for (const std::size_t asked : {0U, 1U, 2U})
        CHECK(ApiCaller(managers.tls_target(asked))
                  .call(Method::get, "/1.0/images", "", from_page(asked))
                  .status == 403);
}

TEST_CASE("strangers at the managers' listener keep nobody out") {
    constexpr std::size_t connections = 64;
    TestManagers managers(2, [](auto& options) { options.limits.max_connections = connections; });
    managers.lead(0);
    const Target listener = managers.managers_target(0, std::nullopt);
    std::vector<FileDescriptor> strangers;
    for (std::size_t i = 0; i < 2 * connections; ++i) strangers.push_back(connect_tcp(listener, "127.0.0.2"));
    CHECK(managers.api(0).get("/1.0").status == 200);
    managers.api(1).set("images.update_interval", "7m");  // passed on to that listener
}

TEST_CASE("a value of the configuration is the same at all managers") {
    TestManagers managers(3);
    managers.lead(0);
    managers.api(2).set("images.update_interval", "7m");
    for (const std::size_t asked : {0U, 1U, 2U}) {
        const Json config = managers.api(asked).get("/1.0/config").metadata();
        CHECK(config.dump().find("\"7m\"") != std::string::npos);
    }
    managers.kill(0);
    managers.lead(1);
    CHECK(managers.api(2).get("/1.0/config").text.find("\"7m\"") != std::string::npos);
}

TEST_CASE("an instance reports to any manager by TLS with its token") {
    TestManagers managers(2);
    managers.lead(0);
    const std::string id = managers.api(0).launch(managers.api(0).add_image("base", image_package()));
    const std::string path = "/1.0/containers/" + id;
    Headers token;
    token.set("Authorization", managers.bearer(id));
    token.set("Content-Type", "application/json");
    ApiCaller outside(managers.tls_target(1));
    const std::string report = R"({"status": "error", "error_code": 2, "error_message": "hook failed"})";
    Headers forged = token;
    forged.set("Authorization", managers.bearer("0123456789abcdefghij"));
    CHECK(outside.call(Method::patch, path, report).status == 401);
    CHECK(outside.call(Method::patch, path, report, forged).status == 403);
    CHECK(managers.api(0).get(path).metadata().at("status") == Json("running"));
    CHECK(outside.call(Method::patch, path, report, token).status == 200);
    eventually("the instance has failed",
               [&] { return managers.api(0).get(path).metadata().at("status") == Json("error"); });
}

TEST_CASE("instances are told where other machines reach the managers") {
    using Texts = std::vector<std::string>;
    using server::api_for_others;
    CHECK(api_for_others({"https://[::]:8444"}, "10.77.0.11") == Texts{"https://10.77.0.11:8444"});
    CHECK(api_for_others({"https://0.0.0.0:8444"}, "fd00::1") == Texts{"https://[fd00::1]:8444"});
    CHECK(api_for_others({"https://127.0.0.1:1", "https://10.0.0.1:8444", "https://[::1]:1"}, "10.77.0.11") ==
          Texts{"https://10.0.0.1:8444"});
    CHECK(api_for_others({"https://[::]:8444"}, "127.0.0.1").empty());
    CHECK(api_for_others({}, "10.77.0.11").empty());
    FakeMembership membership({"b", "m2", "", "1", 1, {"https://10.0.0.2:8444"}});
    membership.join({"a", "m1", "", "1", 1, {"https://10.0.0.1:8444", "https://10.1.0.1:8444"}});
    membership.join({"c", "m3", "", "1", 1});
    CHECK(server::api_of_all(membership) ==
          Texts{"https://10.0.0.1:8444", "https://10.1.0.1:8444", "https://10.0.0.2:8444"});
}

}  // namespace svc::test
