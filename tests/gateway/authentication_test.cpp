#include <catch2/catch.hpp>
#include <set>

#include "libsvc/base/strings.h"
#include "tests/support/golden.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

namespace {

ApiReply ask(TestGateway& gateway, const std::string& authorization,
             const std::string& path = "/1.0/sessions") {
    Headers headers;
    if (!authorization.empty()) headers.set("Authorization", authorization);
    return gateway.caller().call(Method::get, path, "", headers);
}

}  // namespace

TEST_CASE("the token is in the header or in the query") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    CHECK(ask(gateway, "macaroon root=" + token).status == 200);
    CHECK(ask(gateway, "Macaroon root=" + token).status == 200);
    CHECK(ask(gateway, "MACAROON  root=" + token + " ").status == 200);
    CHECK(ask(gateway, "", "/1.0/sessions?api_token=" + token).status == 200);
    CHECK(ask(gateway, "Basic abc", "/1.0/sessions/?api_token=" + token).status == 200);
}

TEST_CASE("whoever has no valid token is refused with 401") {
    TestGateway gateway;
    TestGateway other;
    const std::string token = gateway.token("alice");
    std::string changed = token;
    changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
    other.token("alice");
    const std::vector<std::string> wrong{"",
                                         "macaroon",
                                         "macaroon root=",
                                         "macaroon root=x",
                                         "macaroon " + token,
                                         "bearer root=" + token,
                                         "macaroon root=" + changed,
                                         "macaroon root=" + token + "A",
                                         "macaroon root=" + token.substr(1),
                                         "macaroon root=" + std::string(8000, 'A')};
    for (const std::string& authorization : wrong) {
        INFO(authorization.substr(0, 200));
        const ApiReply reply = ask(gateway, authorization);
        CHECK(reply.status == 401);
        CHECK(reply.text ==
              R"({"type":"error","status":"failed","status_code":401,"error":"Authorization failed"})"
              "\n");
    }
    CHECK(ask(other, "macaroon root=" + token).status == 401);
}

TEST_CASE("who says twice who he is is nobody") {
    TestGateway gateway;
    Headers headers;
    for (const char* account : {"alice", "bob"})
        headers.add("Authorization", "macaroon root=" + gateway.token(account));
    CHECK(gateway.caller().call(Method::get, "/1.0/sessions", "", headers).status == 401);
    CHECK(gateway.caller().call(Method::get, "/1.0/status", "", headers).status == 401);
}

TEST_CASE("every route but the status and the page wants a token") {
    TestGateway gateway;
    for (const std::string& route : gateway.gateway().routes()) {
        const std::size_t space = route.find(' ');
        const std::string path = route.substr(space + 1);
        if (path == "/1.0/status" || path == "/" || path.starts_with("/web/")) continue;
        const bool socket = path.find("/sockets/") != std::string::npos;
        const bool account = path.starts_with("/1.0/accounts");
        INFO(route);
        const int status = gateway.caller().call(parse_method(route.substr(0, space)), path).status;
        CHECK(status == (socket ? 400 : account ? 404 : 401));
    }
}

TEST_CASE("the table of tests has each route of the gateway and no other") {
    TestGateway gateway;
    std::set<std::string> served{"GET /web/{file}", "GET /internal/1.0/metrics"};
    for (const std::string& route : gateway.gateway().routes())
        if (!route.starts_with("GET /web/")) served.insert(route);
    std::set<std::string> documented;
    const std::string page = read_file(std::filesystem::path(SVC_TESTS_DIR) / ".." / "docs" / "coverage.md");
    for (const std::string& line : split(page.substr(page.find("\n## Stream gateway\n")), '\n')) {
        const auto cells = split(line, '|');
        if (cells.size() > 3 && trim(cells[2]).starts_with("/"))
            documented.insert(std::string(trim(cells[1])) + " " + std::string(trim(cells[2])));
    }
    CHECK(served == documented);
}

TEST_CASE("a socket token is no account token") {
    TestGateway gateway;
    const std::string url = gateway.create(gateway.token("alice")).at("url").as_string();
    CHECK(ask(gateway, "macaroon root=" + url.substr(url.find("token=") + 6)).status == 401);
}

TEST_CASE("an expired token is refused") {
    TestGateway gateway;
    const ApiReply reply =
        gateway.local().post("/1.0/accounts", Json::object({{"name", "alice"}, {"expiry", "1h"}}));
    const std::string token = reply.metadata().at("token").as_string();
    CHECK(ask(gateway, "macaroon root=" + token).status == 200);
    gateway.advance(std::chrono::hours(1) + std::chrono::seconds(1));
    CHECK(ask(gateway, "macaroon root=" + token).status == 401);
}

TEST_CASE("a refusal comes before the body is read") {
    TestGateway gateway;
    const ApiReply reply = gateway.caller().call(Method::post, "/1.0/sessions", std::string(100'000, 'x'));
    CHECK(reply.status == 401);
}

TEST_CASE("the status is open and tells more with a token") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    check_golden("gateway/golden/status.json", ask(gateway, "", "/1.0/status").json());
    check_golden("gateway/golden/status_with_token.json",
                 ask(gateway, "macaroon root=" + token, "/1.0/status/").json());
    CHECK(ask(gateway, "macaroon root=x", "/1.0/status").status == 401);
}

TEST_CASE("a gateway whose regions are down is unhealthy") {
    TestGateway gateway;
    gateway.region().set_answers(false);
    gateway.clock().advance(std::chrono::minutes(1));
    eventually("unhealthy",
               [&] { return ask(gateway, "", "/1.0/status").metadata().at("status") == Json("unhealthy"); });
}

TEST_CASE("what is no route is not found") {
    TestGateway gateway;
    const std::string token = gateway.token("alice");
    for (const char* path :
         {"/1.0", "/1.0/nothing", "/1.0/sessions/x/y", "/2.0/status", "/1.0/accounts",
          "/internal/1.0/metrics", "/web/", "/web/../options.h", "/web/%2e%2e/index.html"}) {
        INFO(path);
        const ApiReply reply = gateway.call(Method::get, path, token);
        CHECK(reply.status == 404);
        CHECK(reply.json().at("status") == Json("failed"));
    }
    CHECK(gateway.call(Method::put, "/1.0/sessions", token).status == 404);
    CHECK(gateway.call(Method::post, "/1.0/status", token).status == 404);
    CHECK(gateway.call(Method::patch, "/1.0/regions", token).status == 404);
}

}  // namespace svc::test
