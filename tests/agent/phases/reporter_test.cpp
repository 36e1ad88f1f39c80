#include "instance-agent/agent/service/reporter.h"

#include <catch2/catch.hpp>

#include "instance-agent/agent/lifecycle.h"
#include "instance-agent/agent/service/service_calls.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/agent/phases/hasty_clock.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace std::chrono_literals;
using test::HastyClock;

namespace {

AgentSession make_session() {
    AgentSession session;
    session.instance_id = "c08p730j1qm6t2783da0";
    session.service_socket = "/var/lib/svc-agent/host/server.unix";
    session.service_urls = {"https://192.168.100.1:8444"};
    session.service_fingerprint = std::string(64, 'a');
    session.token = "secret-token";
    session.boot_timeout_seconds = 30;
    return session;
}

InstanceReport running() {
    InstanceReport report;
    report.status = "running";
    return report;
}

ClientReply reply(int status) {
    ClientReply r;
    r.status = status;
    return r;
}

}  // namespace

TEST_CASE("a report carries the token and goes to the instance's own path") {
    HastyClock clock;
    ClientRequest seen;
    agent::Reporter reporter(make_session(), clock, [&](const Target&, const ClientRequest& request) {
        seen = request;
        return reply(200);
    });
    REQUIRE(reporter.report(running(), {}));
    CHECK(seen.path == "/1.0/containers/c08p730j1qm6t2783da0");
    CHECK(seen.method == Method::patch);
    CHECK(seen.headers.get("Authorization") == "bearer secret-token");
    CHECK(Json::parse(seen.body).at("status").as_string() == "running");
}

TEST_CASE("the next target is tried when the first does not answer, with the pinned fingerprint") {
    HastyClock clock;
    std::vector<Target> tried;
    agent::Reporter reporter(make_session(), clock, [&](const Target& target, const ClientRequest&) {
        tried.push_back(target);
        if (tried.size() == 1) throw Error(ErrorCode::unavailable, "nobody there");
        return reply(200);
    });
    REQUIRE(reporter.report(running(), {}));
    REQUIRE(tried.size() == 2);
    CHECK(tried[0].unix_path == "/var/lib/svc-agent/host/server.unix");
    CHECK(tried[1].server_fingerprint == std::string(64, 'a'));
    CHECK(clock.waits == 0);
}

TEST_CASE("a report goes on where the first manager is dead and who answers has another certificate") {
    HastyClock clock;
    test::TestServer stranger, manager;
    std::atomic<int> taken_in{0};
    std::string token;
    const std::string path = "/1.0/containers/c08p730j1qm6t2783da0";
    stranger.service.add(path, [&](Request&) { return ++taken_in, Response(); });
    manager.service.add(path, [&](Request& request) {
        token = request.headers.get("Authorization");
        return Response();
    });
    stranger.with_tls = manager.with_tls = true;
    stranger.start();
    manager.start();
    AgentSession session = make_session();
    session.service_socket = manager.directory() / "nobody";
    session.service_urls = {"https://127.0.0.1:1", stranger.tls_target().describe(),
                            manager.tls_target().describe()};
    session.service_fingerprint = manager.tls_target().server_fingerprint;
    REQUIRE(agent::Reporter(session, clock, call_directly).report(running(), {}));
    CHECK(token == "bearer secret-token");
    CHECK(taken_in == 0);
    CHECK(clock.waits == 0);
    session.service_urls.pop_back();
    CHECK_FALSE(agent::Reporter(session, clock, call_directly).report(running(), {}, 30s));
    CHECK(taken_in == 0);
}

TEST_CASE("an unreachable service is asked again with growing pauses until it answers") {
    HastyClock clock;
    int calls = 0;
    agent::Reporter reporter(make_session(), clock, [&](const Target&, const ClientRequest&) -> ClientReply {
        if (++calls < 20) throw Error(ErrorCode::unavailable, "nobody there");
        return reply(200);
    });
    REQUIRE(reporter.report(running(), {}));
    CHECK(clock.waits == 9);
    CHECK(clock.passed > 9 * 50ms);
}

TEST_CASE("server faults and reports that come too early are retried, refusals are not") {
    HastyClock clock;
    std::vector<int> statuses = {500, 409, 403};
    std::size_t next = 0;
    agent::Reporter reporter(make_session(), clock,
                             [&](const Target&, const ClientRequest&) { return reply(statuses.at(next++)); });
    CHECK_FALSE(reporter.report(running(), {}));
    CHECK(next == 3);
}

TEST_CASE("patience with an unreachable service has an end") {
    HastyClock clock;
    agent::Reporter reporter(make_session(), clock, [](const Target&, const ClientRequest&) -> ClientReply {
        throw Error(ErrorCode::unavailable, "nobody there");
    });
    CHECK_FALSE(reporter.report(running(), {}, 30s));
    CHECK(clock.passed >= 30s);
    CHECK(clock.passed < 45s);
}

TEST_CASE("a stop request ends the retries") {
    HastyClock clock;
    std::stop_source stop;
    agent::Reporter reporter(make_session(), clock, [&](const Target&, const ClientRequest&) -> ClientReply {
        stop.request_stop();
        throw Error(ErrorCode::unavailable, "nobody there");
    });
    CHECK_FALSE(reporter.report(running(), stop.get_token()));
}

TEST_CASE("a guest that never gets ready is reported as an error with the reason") {
    HastyClock clock;
    AgentSession session = make_session();
    session.ready.file = "/nonexistent/ready";
    Json sent;
    TemporaryDirectory folder("/tmp");
    agent::Paths paths;
    paths.data = folder.path();
    agent::run_with_guest(session, paths, clock,
                          [&](const Target&, const ClientRequest& request) {
                              sent = Json::parse(request.body);
                              return reply(200);
                          },
                          {});
    CHECK(sent.at("status").as_string() == "error");
    CHECK(sent.at("error_code").as_int() == 5);
    CHECK_THAT(sent.at("error_message").as_string(), Catch::Contains("'/nonexistent/ready' does not exist"));
}

TEST_CASE("a URL's host is found at the address that the session tells, and asked for by its name") {
    AgentSession session = make_session();
    session.service_urls = {"https://lb.example.com:8444", "https://192.168.100.1:8444"};
    session.service_addresses = {{"lb.example.com", "192.0.2.7"}};
    const std::vector<Target> targets = agent::service_targets(session);
    REQUIRE(targets.size() == 3);
    CHECK(targets[1].host == "192.0.2.7");
    CHECK(targets[1].port == 8444);
    CHECK(targets[1].tls_name() == "lb.example.com");
    CHECK(targets[1].server_fingerprint == session.service_fingerprint);
    CHECK(targets[2].host == "192.168.100.1");
    CHECK(targets[2].server_name.empty());
}

TEST_CASE("a session is read back as it was written, an absent one is nothing, a broken one an error") {
    TemporaryDirectory folder("/tmp");
    CHECK_FALSE(agent::read_session(folder.path() / "absent.json"));

    write_file_atomically(folder.path() / "session.json", make_session().to_json().dump());
    const auto session = agent::read_session(folder.path() / "session.json");
    REQUIRE(session);
    CHECK(session->token == "secret-token");
    CHECK(session->service_urls == std::vector<std::string>{"https://192.168.100.1:8444"});

    write_file_atomically(folder.path() / "broken.json", "{");
    CHECK_THROWS_AS(agent::read_session(folder.path() / "broken.json"), Error);
}
