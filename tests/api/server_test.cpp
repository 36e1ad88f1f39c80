// Rules of every route: access, unknown paths and methods, limits, faults.
#include <catch2/catch.hpp>

#include "libsvc/base/strings.h"
#include "server/http/listener_limits.h"
#include "tests/support/golden.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"
#include "tests/support/tls_client.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

namespace {

// The routes that need no trusted certificate; the last ones need a secret, a token or a password.
bool is_open(const std::string& access) {
    return access == "everyone" || access == "token" || access == "secret";
}

// "/1.0/images/{id}" as "/1.0/images/x".
std::string with_names(const std::string& path) {
    std::vector<std::string> parts = split(path, '/');
    for (std::string& part : parts)
        if (part.starts_with('{')) part = "x";
    return join(parts, "/");
}

}  // namespace

TEST_CASE("server information is open to everyone") {
    TestDaemon daemon;
    check_golden("api/golden/root.json", daemon.api().get("/").json());
    Json server = daemon.api().get("/1.0").json();
    Json metadata = server.at("metadata");
    metadata.set("auth_name", "uid=0");  // whoever runs the test
    server.set("metadata", std::move(metadata));
    check_golden("api/golden/server.json", server);
    CHECK(daemon.api().get("/1.0/").text == daemon.api().get("/1.0").text);
    CHECK(daemon.api().get("/1.0/version").metadata() == Json::object({{"version", SVC_VERSION}}));
    ApiCaller guest(daemon.tls_target());
    CHECK(guest.get("/1.0").metadata().at("auth") == Json("guest"));
    CHECK(guest.get("/").status == 200);
    CHECK(guest.get("/1.0/version").status == 200);
}

TEST_CASE("a certificate is untrusted until the service trusts it") {
    TestDaemon daemon;
    const KeyPair keys = make_key_pair(daemon.path(), "client");
    ApiCaller client(daemon.tls_target(keys));
    CHECK(client.get("/1.0").metadata().at("auth") == Json("untrusted"));
    CHECK(client.get("/1.0/images").status == 403);
    daemon.trust(keys);
    CHECK(client.get("/1.0").metadata().at("auth") == Json("trusted"));
    CHECK(client.get("/1.0/images").status == 200);
}

TEST_CASE("trusted routes refuse guests before anything else") {
    TestDaemon daemon;
    ApiCaller guest(daemon.tls_target());
    for (const auto& [route, access] : daemon.routes()) {
        if (is_open(access)) continue;
        INFO(route);
        const std::size_t space = route.find(' ');
        const ApiReply reply =
            guest.call(parse_method(route.substr(0, space)), with_names(route.substr(space + 1)), "{}");
        CHECK(reply.status == 403);
        CHECK(reply.error() == "Not Authorized");
    }
    CHECK(guest.upload(Method::post, "/1.0/images", "not even JSON", std::string(3U << 20U, 'x')).status ==
          403);
}

TEST_CASE("the instances socket shows token routes alone") {
    TestDaemon daemon;
    ApiCaller inside(daemon.agent_target());
    for (const char* path :
         {"/", "/1.0", "/1.0/version", "/1.0/images", "/1.0/containers", "/1.0/operations/x/websocket"}) {
        INFO(path);
        CHECK(inside.get(path).status == 404);
        CHECK(inside.get(path).error() == "not found");
    }
    CHECK(inside.get("/1.0/artifacts").error() == "missing token");
    CHECK(inside.patch("/1.0/containers/x", Json::object({{"desired_status", "stopped"}})).status == 401);
}

// A client that hears the refusal although the body has not come was refused by its header alone.
TEST_CASE("whoever may not make a request is refused before its body is read") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    const std::string id = daemon.api().launch("base");
    const std::string other = daemon.api().launch("base");
    const auto status_of = [](const Target& target, const std::string& line, const std::string& fields) {
        return ask(target, line + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n" + fields + "\r\n{")
            .status;
    };
    const std::string own = "Authorization: " + daemon.bearer(id) + "\r\n";
    const Target agent = daemon.agent_target();
    CHECK(status_of(agent, "PATCH /1.0/instances/" + id, "") == 401);
    CHECK(status_of(agent, "PATCH /1.0/instances/" + id, "Authorization: bearer x\r\n") == 403);
    CHECK(status_of(agent, "PATCH /1.0/containers/" + other, own) == 403);
    CHECK(status_of(agent, "PATCH /1.0/instances/absent", own) == 403);
    CHECK(status_of(agent, "PATCH /1.0/instances/" + id,
                    "Authorization: " + daemon.bearer("dc10nquc5ee4f6u48mqg") + "\r\n") == 403);
    CHECK(status_of(agent, "POST /1.0/instances", own) == 404);
    CHECK(status_of(agent, "GET /1.0/artifacts", own) == 400);
    CHECK(status_of(daemon.local_target(), "GET /1.0/instances", "") == 400);
    CHECK(status_of(daemon.local_target(), "PATCH /1.0/instances/" + id, "Authorization: bearer x\r\n") ==
          403);
}

TEST_CASE("what is no body at all is no body of a get") {
    TestDaemon daemon;
    CHECK(ask(daemon.local_target(), "GET /1.0 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").status ==
          200);
    CHECK(ask(daemon.local_target(),
              "GET /1.0 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
              .status == 200);
}

TEST_CASE("clients that are not trusted send short bodies") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    const std::string id = daemon.api().launch("base");
    const std::string fields = "Host: x\r\nContent-Length: 70000\r\n\r\n";
    const std::string token = "Authorization: " + daemon.bearer(id) + "\r\n";
    CHECK(ask(daemon.agent_target(), "PATCH /1.0/instances/" + id + " HTTP/1.1\r\n" + token + fields)
              .body.find("request body is longer than 65536 bytes") != std::string::npos);
    TlsClient guest(daemon.tls_target(), TlsVersion::tls13);
    guest.send("POST /1.0/certificates HTTP/1.1\r\n" + fields);
    CHECK(guest.read_to_end().find("request body is longer than 65536 bytes") != std::string::npos);
}

TEST_CASE("unknown paths and methods are not found") {
    TestDaemon daemon;
    const auto refused = [&](Method method, const std::string& path) {
        return daemon.api().call(method, path).status == 404;
    };
    CHECK(refused(Method::get, "/1.1"));
    CHECK(refused(Method::get, "/1.0/imagess"));
    CHECK(refused(Method::put, "/1.0/images"));
    CHECK(refused(Method::options, "/1.0"));
    CHECK(refused(Method::delete_, "/1.0/images"));
    check_golden("api/golden/not_found.json", daemon.api().get("/nowhere").json());
}

TEST_CASE("head is get without a body") {
    TestDaemon daemon;
    const ApiReply reply = daemon.api().call(Method::head, "/1.0");
    CHECK(reply.status == 200);
    CHECK(reply.text.empty());
    CHECK(daemon.api().call(Method::head, "/1.0/images/x").status == 404);
}

TEST_CASE("bad bodies and queries are refused") {
    TestDaemon daemon;
    CHECK(daemon.api().call(Method::post, "/1.0/containers", "{").status == 400);
    CHECK(daemon.api().call(Method::post, "/1.0/containers", "").error() == "request body is required");
    CHECK(daemon.api().call(Method::post, "/1.0/containers", "[]").status == 400);
    CHECK(daemon.api().get("/1.0/images?recursion=2").error() ==
          "argument recursion is invalid: must be 0 or 1");
    CHECK(daemon.api().get("/1.0/containers?recursion=x").status == 400);
}

TEST_CASE("bodies over the limit are refused") {
    TestDaemon daemon([](server::Options& options) {
        options.max_body = 1000;
        options.max_upload = 5000;
    });
    CHECK(daemon.api()
              .call(Method::post, "/1.0/containers", std::string(1000, ' '))
              .error()
              .starts_with("malformed JSON"));
    const ApiReply large = daemon.api().call(Method::post, "/1.0/containers", std::string(1001, ' '));
    CHECK(large.status == 400);
    CHECK_FALSE(large.error().starts_with("malformed JSON"));
    CHECK(
        daemon.api().upload(Method::post, "/1.0/images", "{\"name\":\"a\"}", std::string(5001, 'x')).status ==
        400);
    CHECK(daemon.api().get("/1.0/images").metadata() == Json::array());
}

TEST_CASE("instances that cannot be told apart may each take what all of them have") {
    const server::ConnectionShares shares{.max_connections = 4000};
    const ListenerLimits own = server::agent_limits(shares, false);
    CHECK(own.each == 64);
    CHECK(own.untrusted == 1000);
    const ListenerLimits shared = server::agent_limits(shares, true);
    CHECK(shared.each == 1000);
    CHECK(shared.untrusted == 1000);
}

}  // namespace svc::test
