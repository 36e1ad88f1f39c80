// A server that is busy, that is asked slowly, that answers later, that stops.
#include <thread>

#include "libsvc/base/strings.h"
#include "libsvc/net/client/client.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/simple_handlers.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

// A server that begins each request and answers none before it is released.
struct Held {
    Held() {
        server.service.add("/", [this](Request&) {
            entered.set();
            release.wait();
            return text_response("done");
        });
    }
    Signal entered, release;
    TestServer server;  // last: ends first
};

// Says "done" when it is released.
class HeldSource final : public BodySource {
  public:
    HeldSource(bool ends, Signal& entered, Signal& release)
        : ends_(ends), entered_(entered), release_(release) {}
    std::string read(std::size_t) override {
        entered_.set();
        release_.wait();
        return std::exchange(text_, "");
    }
    std::optional<std::uint64_t> length() const override { return std::nullopt; }
    bool ends_by_itself() const override { return ends_; }

  private:
    const bool ends_;
    Signal& entered_;
    Signal& release_;
    std::string text_ = "done";
};

}  // namespace

TEST_CASE("a full pool is answered and not waited for") {
    Held held;
    TestServer& t = held.server;
    t.start(1, 1);
    RawClient running(t.unix_target());
    running.send(get("/"));
    REQUIRE(held.entered.wait());
    RawClient queued(t.unix_target());
    queued.send(get("/"));
    test::eventually("the second request is queued", [&] { return t.pool().queued() > 0; });
    CHECK(ask(t.unix_target(), get("/")).status == 503);
    held.release.set();
    CHECK(running.reply().body == "done");
    CHECK(queued.reply().body == "done");
}

// Each with one short limit, so that a slow machine does not cut the client at another place.
TEST_CASE("slow clients are cut") {
    TestServer t;
    t.service.add("/", echo);
    t.service.add("/big", [](Request&) { return text_response(std::string(64U << 20, 'x')); });
    SECTION("that say nothing") {
        t.limits.header_time = 50ms;
        t.start();
        RawClient client(t.unix_target());
        CHECK(client.read_to_end().empty());
    }
    SECTION("in the header") {
        t.limits.header_time = 50ms;
        t.start();
        RawClient client(t.unix_target());
        client.send("GET / HTTP/1.1\r\nHo");
        CHECK(client.read_to_end().empty());
    }
    SECTION("in the body") {
        t.limits.body_idle_time = 50ms;
        t.start();
        RawClient client(t.unix_target());
        client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
        CHECK(client.read_to_end().empty());
        CHECK(t.service.wait_for_done().status == 0);
    }
    SECTION("between requests") {
        t.limits.keep_alive_time = 50ms;
        t.start();
        RawClient client(t.unix_target());
        client.send(get("/"));
        CHECK(client.reply().status == 200);
        CHECK(client.read_to_end().empty());
    }
    SECTION("that do not read") {
        t.limits.write_idle_time = 50ms;
        t.start();
        RawClient client(t.unix_target());
        client.send(get("/big"));
        CHECK(t.service.wait_for_done().sent == 0);
        CHECK(client.read_to_end().size() < (64U << 20));
    }
}

TEST_CASE("idle connections do not hold up others") {
    TestServer t;
    t.limits.header_time = 10min;
    t.service.add("/", hello);
    t.start();
    std::vector<RawClient> idle;  // with the server's ends far from the 1,024 files a process may have
    for (int i = 0; i < 300; ++i) idle.emplace_back(t.unix_target());
    for (auto& client : idle) client.send("GET / HT");
    CHECK(ask(t.unix_target(), get("/")).body == "hello");
    CHECK(t.server().connections() >= 300);
}

TEST_CASE("one connection too many is closed at once") {
    TestServer t;
    t.limits.max_connections = 1;
    t.service.add("/", hello);
    t.start();
    RawClient first(t.unix_target());
    first.send(get("/"));
    CHECK(first.reply().status == 200);
    RawClient second(t.unix_target());
    CHECK(second.read_to_end().empty());
}

TEST_CASE("stop lets a running request end") {
    Held held;
    TestServer& t = held.server;
    t.start();
    RawClient idle(t.unix_target());
    RawClient client(t.unix_target());
    client.send(get("/"));
    REQUIRE(held.entered.wait());
    std::jthread stopper([&] { t.server().stop(test::long_wait); });
    CHECK(idle.read_to_end().empty());
    held.release.set();
    CHECK(client.read_to_end().ends_with("done"));
    stopper.join();
    CHECK(t.server().connections() == 0);
}

TEST_CASE("stop without grace breaks off what runs") {
    Held held;
    TestServer& t = held.server;
    t.start();
    RawClient client(t.unix_target());
    client.send(get("/"));
    REQUIRE(held.entered.wait());
    std::jthread stopper([&] { t.server().stop(0ms); });
    CHECK(client.read_to_end().empty());
    held.release.set();
}

TEST_CASE("disconnect ends matching connections alone") {
    TestServer t;
    t.with_tcp = true;
    t.service.add("/", hello);
    t.start();
    RawClient local(t.unix_target());
    local.send(get("/"));
    CHECK(local.reply().status == 200);
    HttpClient remote(t.tcp_target());
    ClientRequest request;
    request.path = "/";
    CHECK(remote.call(request).status == 200);
    t.server().disconnect([](const Peer& peer) { return peer.transport == Transport::unix_socket; }, "test");
    CHECK(local.read_to_end().empty());
    CHECK(remote.call(request).status == 200);
}

TEST_CASE("disconnect lets a reply of pieces end that ends by itself") {
    for (const bool ends : {true, false}) {
        Signal entered, release;
        TestServer t;
        t.service.add("/", [&](Request&) {
            Response response;
            response.source = std::make_unique<HeldSource>(ends, entered, release);
            return response;
        });
        t.start();
        RawClient client(t.unix_target());
        client.send(get("/"));
        REQUIRE(entered.wait());
        t.server().disconnect([](const Peer&) { return true; }, "test");
        if (ends) release.set();
        CHECK(client.read_to_end().ends_with("done\r\n0\r\n\r\n") == ends);
        release.set();
    }
}

TEST_CASE("a deferred response comes when its responder is called") {
    Signal deferred;
    Responder responder;
    TestServer t;
    t.service.add("/later", [&](Request&) {
        Response response;
        response.later = [&](Responder r) {
            responder = std::move(r);
            deferred.set();
        };
        return response;
    });
    t.service.add("/at-once", [](Request&) {
        Response response;
        response.later = [](const Responder& r) { r(text_response("at once")); };
        return response;
    });
    t.service.add("/dropped", [](Request&) {
        Response response;
        response.later = [](const Responder&) {};
        return response;
    });
    t.start(1);
    RawClient client(t.unix_target());
    client.send(get("/later"));
    REQUIRE(deferred.wait());
    CHECK(ask(t.unix_target(), get("/at-once")).body == "at once");  // the pool's only thread is free
    SECTION("and the connection goes on") {
        client.send(get("/at-once"));
        responder(text_response("later"));
        responder(text_response("too late"));
        CHECK(client.reply().body == "later");
        CHECK(client.reply().body == "at once");
        client.send(get("/dropped"));
        CHECK(client.reply().body == "request was dropped");
    }
    SECTION("unless the client went") {
        CHECK(t.service.wait_for_done().path == "/at-once");
        client = RawClient(t.unix_target());
        const auto gone = t.service.wait_for_done();
        CHECK(gone.path == "/later");
        CHECK(gone.status == 0);
        responder(text_response("later"));
    }
    SECTION("or the server stops") {
        t.server().stop(0ms);
        CHECK(client.read_to_end().empty());
        responder(text_response("later"));
    }
}
