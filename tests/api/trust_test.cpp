// Access over TLS: the server, the authenticator and the certificate service together.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/http/event_stream.h"
#include "server/login/authenticate.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/trust_world.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {
namespace {

using namespace std::chrono_literals;
using server::Authenticator;
using server::Trust;

constexpr std::chrono::seconds patience{20};

struct TrustFixture : TrustWorld {
    Authenticator authenticator{{[this](const ClientCertificate& c) { return service.vouching(c.der); }}};
    TestServer server;
    std::atomic<int> written{0};

    TrustFixture() {
        const auto who = [this](Request& request) {
            return text_response(std::string(to_text(authenticator.trust(request))));
        };
        server.service.add("/", who, Dispatch::on_io_thread);
        server.service.add("/private", [this](Request& request) {
            authenticator.check(Access::viewer, request);
            return text_response("secret");
        });
        server.service.add("/events", [this](Request& request) {
            authenticator.check(Access::viewer, request);
            return server::event_stream(bus, {EventType::lifecycle}, {});
        });
        server.with_tls = true;
        server.start(8, 1000);
        service.on_loss([this] {
            server.server().disconnect([this](const Peer& peer) { return authenticator.lost_trust(peer); },
                                       "certificate was removed");
        });
    }
    Target target(const MadeCertificate& identity) {
        Target target = server.tls_target();
        target.identity = identity.write_to(server.directory(), "client-" + std::to_string(++written));
        return target;
    }
    static std::string ask(HttpClient& client, const std::string& path = "/") {
        ClientRequest request;
        request.path = path;
        return client.call(request).body;
    }
    std::string state_of(const MadeCertificate& identity) {
        HttpClient client(target(identity));
        const std::string state = ask(client);
        CHECK(ask(client, "/private") == (state == "trusted" ? "secret" : "Not Authorized"));
        return state;
    }
    bool connections_become(std::size_t count) {
        return test::eventually([&] { return server.server().connections() == count; });
    }
};

}  // namespace

TEST_CASE_METHOD(TrustFixture, "without a certificate one is a guest who still gets an answer") {
    HttpClient guest(server.tls_target());
    CHECK(ask(guest) == "guest");
    CHECK(ask(guest, "/private") == "Not Authorized");
}

TEST_CASE_METHOD(TrustFixture, "a certificate is trusted while it is in the store") {
    const auto someone = make_certificate({"someone"});
    CHECK(state_of(someone) == "untrusted");
    trust(someone);
    CHECK(state_of(someone) == "trusted");
    remove(someone);
    CHECK(state_of(someone) == "untrusted");
}

TEST_CASE_METHOD(TrustFixture, "dates are checked at each handshake and each request") {
    const auto dated = make_certificate(
        {"dated", from_rfc3339("2024-02-01T00:00:00Z"), from_rfc3339("2024-03-01T00:00:00Z")});
    trust(dated);
    CHECK(state_of(dated) == "untrusted");
    clock.advance(30 * 24h);
    HttpClient client(target(dated));
    CHECK(ask(client) == "trusted");
    clock.advance(30 * 24h);
    CHECK(ask(client) == "untrusted");
    CHECK(state_of(dated) == "untrusted");
}

TEST_CASE_METHOD(TrustFixture, "children of an authority come and go with it") {
    const auto authority = make_certificate({.name = "ca", .authority = true});
    const auto child = make_certificate({.name = "child", .issuer = &authority});
    CHECK(state_of(child) == "untrusted");
    trust(authority);
    CHECK(state_of(child) == "trusted");
    WebSocketClient events_of_child(target(child), "/events");
    remove(authority);
    CHECK(events_of_child.receive(patience)->close_code == 1008);
    CHECK(state_of(child) == "untrusted");
}

TEST_CASE_METHOD(TrustFixture, "removing a certificate ends its connections and nobody elses") {
    const auto leaving = make_certificate({"leaving"});
    const auto staying = make_certificate({"staying"});
    trust(leaving);
    trust(staying);
    HttpClient idle(target(leaving));
    CHECK(ask(idle) == "trusted");
    HttpClient guest(server.tls_target());
    HttpClient stranger(target(make_certificate({"stranger"})));
    CHECK(ask(guest) == "guest");
    CHECK(ask(stranger) == "untrusted");
    WebSocketClient theirs(target(leaving), "/events");
    WebSocketClient others(target(staying), "/events");
    CHECK(connections_become(5));
    remove(leaving);
    const auto last = theirs.receive(patience);
    REQUIRE(last);
    CHECK(last->kind == WebSocketMessage::Kind::closed);
    CHECK(last->close_code == 1008);
    CHECK(last->data == "certificate was removed");
    CHECK(connections_become(3));
    bus.publish(EventType::lifecycle, Json::object());
    CHECK(others.receive(patience)->kind == WebSocketMessage::Kind::text);
    CHECK(ask(idle) == "untrusted");  // over a new connection
    CHECK_THROWS_AS(WebSocketClient(target(leaving), "/events"), Error);
}

TEST_CASE_METHOD(TrustFixture, "clients shake hands while certificates come and go") {
    constexpr std::size_t threads = 10;
    constexpr std::size_t per_thread = 10;
    std::atomic<std::size_t> right{0};
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i)
        running.emplace_back([&] {
            for (std::size_t n = 0; n < per_thread; ++n) {
                const auto one = make_certificate({"one of many"});
                const Target where = target(one);
                const auto state = [&] {
                    HttpClient client(where);
                    return ask(client);
                };
                const bool before = state() == "untrusted";
                trust(one);
                const bool between = state() == "trusted";
                remove(one);
                if (before && between && state() == "untrusted") ++right;
            }
        });
    running.clear();
    CHECK(right == threads * per_thread);
}

TEST_CASE("a token opens nothing once its instance is gone") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "svc-token-");
    const ManualClock clock;
    const AgentTokens tokens(directory.path() / "key", clock);
    Request request;
    std::string instance;
    const auto code = [&](bool exists) {
        return code_of([&] {
            instance = server::token_instance(request, tokens, [&](std::string_view) { return exists; });
        });
    };
    CHECK(code(true) == ErrorCode::unauthenticated);
    request.headers.set("Authorization", "bearer " + tokens.issue("abc"));
    CHECK(code(true) == std::nullopt);
    CHECK(instance == "abc");
    CHECK(code(false) == ErrorCode::forbidden);
    request.headers.set("Authorization", "bearer x" + tokens.issue("abc"));
    CHECK(code(true) == ErrorCode::forbidden);
}

}  // namespace svc::test
