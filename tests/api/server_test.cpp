// What holds for every route: who may call it, unknown paths and methods, limits, faults.
#include <catch2/catch.hpp>

#include "tests/support/golden.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

const std::vector<std::string> readable_paths{
    "/1.0/images",    "/1.0/images/x",    "/1.0/containers", "/1.0/containers/x", "/1.0/containers/x/logs",
    "/1.0/instances", "/1.0/instances/x", "/1.0/operations", "/1.0/operations/x", "/1.0/operations/x/wait",
    "/1.0/nodes",     "/1.0/nodes/node0", "/1.0/tasks",      "/1.0/events",       "/1.0/instances/x/logs/y"};

}  // namespace

TEST_CASE("server_information_is_open_to_everyone") {
    TestDaemon daemon;
    check_golden("api/golden/root.json", daemon.api().get("/").json());
    check_golden("api/golden/server.json", daemon.api().get("/1.0").json());
    CHECK(daemon.api().get("/1.0/").text == daemon.api().get("/1.0").text);
    CHECK(daemon.api().get("/1.0/version").metadata() == Json::object({{"version", SVC_VERSION}}));
    ApiCaller guest(daemon.tls_target());
    CHECK(guest.get("/1.0").metadata().at("auth") == Json("guest"));
    CHECK(guest.get("/").status == 200);
    CHECK(guest.get("/1.0/version").status == 200);
}

TEST_CASE("a_certificate_is_untrusted_until_the_service_trusts_it") {
    std::string trusted;
    TestDaemon daemon(
        {}, [&](const ClientCertificate& certificate) { return certificate.fingerprint == trusted; });
    const KeyPair keys = make_key_pair(daemon.path(), "client");
    ApiCaller client(daemon.tls_target(keys));
    CHECK(client.get("/1.0").metadata().at("auth") == Json("untrusted"));
    CHECK(client.get("/1.0/images").status == 403);
    trusted = parse_certificate(read_file(keys.certificate)).fingerprint;
    CHECK(client.get("/1.0").metadata().at("auth") == Json("trusted"));
    CHECK(client.get("/1.0/images").status == 200);
}

TEST_CASE("trusted_routes_refuse_guests_before_anything_else") {
    TestDaemon daemon;
    ApiCaller guest(daemon.tls_target());
    for (const std::string& path : readable_paths) {
        INFO(path);
        const ApiReply reply = guest.get(path);
        CHECK(reply.status == 403);
        CHECK(reply.error() == "Not Authorized");
    }
    CHECK(guest.post("/1.0/containers", Json::object()).status == 403);
    CHECK(guest.upload(Method::post, "/1.0/images", "not even JSON", std::string(3U << 20U, 'x')).status ==
          403);
    CHECK(guest.remove("/1.0/images/x").status == 403);
    CHECK(guest.remove("/1.0/operations/x").status == 403);
    CHECK(guest.post("/1.0/containers/x/exec", Json::object()).status == 403);
}

TEST_CASE("the_instances_socket_shows_token_routes_alone") {
    TestDaemon daemon;
    ApiCaller inside(daemon.agent_target());
    for (const char* path :
         {"/", "/1.0", "/1.0/version", "/1.0/images", "/1.0/containers", "/1.0/operations/x/websocket"}) {
        INFO(path);
        CHECK(inside.get(path).status == 404);
        CHECK(inside.get(path).error() == "not found");
    }
    CHECK(inside.patch("/1.0/containers/x", Json::object({{"desired_status", "stopped"}})).status == 401);
}

TEST_CASE("unknown_paths_and_methods_are_not_found") {
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

TEST_CASE("head_is_get_without_a_body") {
    TestDaemon daemon;
    const ApiReply reply = daemon.api().call(Method::head, "/1.0");
    CHECK(reply.status == 200);
    CHECK(reply.text.empty());
    CHECK(daemon.api().call(Method::head, "/1.0/images/x").status == 404);
}

TEST_CASE("bad_bodies_and_queries_are_refused") {
    TestDaemon daemon;
    CHECK(daemon.api().call(Method::post, "/1.0/containers", "{").status == 400);
    CHECK(daemon.api().call(Method::post, "/1.0/containers", "").error() == "request body is required");
    CHECK(daemon.api().call(Method::post, "/1.0/containers", "[]").status == 400);
    CHECK(daemon.api().get("/1.0/images?recursion=2").error() ==
          "argument recursion is invalid: must be 0 or 1");
    CHECK(daemon.api().get("/1.0/containers?recursion=x").status == 400);
}

TEST_CASE("bodies_over_the_limit_are_refused") {
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

}  // namespace svc::test
