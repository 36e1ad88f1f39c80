// What clients of each role may do, over TLS.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct RoleSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    KeyPair keys = make_key_pair(daemon.path(), "client");
    std::string pem = read_file(keys.certificate);
    std::string url = "/1.0/certificates/" + parse_certificate(pem).fingerprint;
    ApiCaller client{daemon.tls_target(keys)};

    void add(const char* role) {
        const Json body = Json::object({{"certificate", pem}, {"role", role}});
        REQUIRE(api.post("/1.0/certificates", body).status == 200);
    }
    void change(const char* role) { REQUIRE(api.patch(url, Json::object({{"role", role}})).status == 200); }
    ApiReply make_node() { return client.post("/1.0/nodes", Json::object()); }   // 400 for an admin
    ApiReply launch() { return client.post("/1.0/instances", Json::object()); }  // 400 for an operator
};

// "/1.0/images/{id}" as "/1.0/images/x".
std::string filled(const std::string& path) {
    std::vector<std::string> parts = split(path, '/');
    for (std::string& part : parts)
        if (part.starts_with('{')) part = "x";
    return join(parts, "/");
}

}  // namespace

TEST_CASE_METHOD(RoleSetup, "each route refuses clients with a lower role than its own, and says so") {
    const std::string cn = parse_certificate(pem).common_name;
    add("viewer");
    for (const char* role : {"viewer", "operator"}) {
        change(role);
        for (const auto& [route, access] : daemon.routes()) {
            const bool too_high =
                access == "admin" || (access == "operator" && role == std::string("viewer"));
            if (!too_high) continue;
            INFO(route << " as " << role);
            const std::size_t space = route.find(' ');
            const ApiReply reply =
                client.call(parse_method(route.substr(0, space)), filled(route.substr(space + 1)), "{}");
            CHECK(reply.status == 403);
            CHECK(reply.error() ==
                  "Not Authorized: this needs the role " + access + ", and " + cn + " has " + role);
        }
    }
}

TEST_CASE_METHOD(RoleSetup, "a role opens what it is for") {
    add("viewer");
    CHECK(client.get("/1.0/instances").status == 200);
    CHECK(client.get("/1.0/config").status == 200);
    CHECK(launch().status == 403);
    change("operator");
    CHECK(launch().status == 400);
    CHECK(make_node().status == 403);
    change("admin");
    CHECK(make_node().status == 400);
}

TEST_CASE_METHOD(RoleSetup, "the service tells a client its role and its name") {
    const auto told = [&](ApiCaller& caller) {
        const Json server = caller.get("/1.0").metadata();
        return server.at("auth").as_string() + " " + server.at("auth_role").as_string() + " " +
               server.at("auth_name").as_string();
    };
    CHECK(told(api) == "trusted admin uid=" + std::to_string(getuid()));
    CHECK(told(client) == "untrusted  ");
    add("operator");
    CHECK(told(client) == "trusted operator " + parse_certificate(pem).common_name);
}

TEST_CASE_METHOD(RoleSetup, "a certificate without a role is that of an admin") {
    daemon.trust(keys);
    CHECK(api.get(url).metadata().at("role") == Json("admin"));
    CHECK(make_node().status == 400);
}

TEST_CASE_METHOD(RoleSetup, "a new role counts at once, also after a restart, and unknown ones are refused") {
    add("admin");
    CHECK(make_node().status == 400);
    change("viewer");
    CHECK(make_node().status == 403);
    CHECK(api.patch(url, Json::object({{"role", "root"}})).error() ==
          "argument role is invalid: one of viewer, operator, admin is expected");
    CHECK(api.patch(url, Json::object()).error() == "role is required");
    CHECK(api.patch("/1.0/certificates/000000000000", Json::object({{"role", "admin"}})).status == 404);
    daemon.restart();
    ApiCaller later(daemon.tls_target(keys));
    CHECK(later.post("/1.0/nodes", Json::object()).status == 403);
    CHECK(later.get("/1.0/instances").status == 200);
}

TEST_CASE_METHOD(RoleSetup, "a change of the role keeps to the version that the client has seen") {
    add("viewer");
    const std::string seen = api.get(url).headers.get("ETag");
    Headers headers;
    headers.set("If-Match", seen);
    headers.set("Content-Type", "application/json");
    const auto change_seen = [&] {
        return api.call(Method::patch, url, R"({"role":"operator"})", headers).status;
    };
    CHECK(change_seen() == 200);
    CHECK(change_seen() == 412);
}

TEST_CASE_METHOD(RoleSetup, "a lower role ends the connections that had the higher one") {
    add("operator");
    WebSocketClient events(daemon.tls_target(keys), "/1.0/events?type=lifecycle");
    change("viewer");
    const auto last = events.receive(long_wait);
    REQUIRE(last);
    CHECK(last->kind == WebSocketMessage::Kind::closed);
    CHECK(last->close_code == 1008);
    WebSocketClient again(daemon.tls_target(keys), "/1.0/events?type=lifecycle");
    change("admin");  // a higher one ends nothing
    CHECK(client.get("/1.0/instances").status == 200);
    api.launch(api.add_image("base", image_package()));
    CHECK(again.receive(long_wait)->kind == WebSocketMessage::Kind::text);
}

TEST_CASE_METHOD(RoleSetup, "only admins trust others, and give no client more than they were asked to") {
    add("operator");
    const Json other =
        Json::object({{"certificate", read_file(make_key_pair(daemon.path(), "other").certificate)}});
    CHECK(client.post("/1.0/certificates", other).error() ==
          "Not Authorized: this needs the role admin, and " + parse_certificate(pem).common_name +
              " has operator");
    Json faulty = other;
    faulty.set("role", "root");
    CHECK(api.post("/1.0/certificates", faulty).status == 400);
}

TEST_CASE_METHOD(RoleSetup, "a join token gives its own role and no higher one") {
    const Json issued =
        api.post("/1.0/certificates/tokens", Json::object({{"name", "x"}, {"role", "operator"}})).metadata();
    CHECK(issued.at("role") == Json("operator"));
    CHECK(api.get("/1.0/certificates/tokens").metadata().as_array().at(0).at("role") == Json("operator"));
    const Json body = Json::object({{"join_token", issued.at("token")}, {"role", "admin"}});
    CHECK(client.post("/1.0/certificates", body).status == 200);
    CHECK(api.get(url).metadata().at("role") == Json("operator"));
    CHECK(api.post("/1.0/certificates/tokens", Json::object({{"name", "x"}, {"role", "root"}})).status ==
          400);
}

TEST_CASE_METHOD(RoleSetup, "the trust password makes admins") {
    api.set("core.trust_password", "secret");
    CHECK(client.post("/1.0/certificates", Json::object({{"trust-password", "secret"}})).status == 200);
    CHECK(api.get(url).metadata().at("role") == Json("admin"));
}

}  // namespace svc::test
