#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/websocket_peer.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using Kind = WebSocketMessage::Kind;

TEST_CASE("websocket close and abort end it from the server") {
    WebSocketServer t;
    t.run();
    SECTION("close sends what is queued first") {
        WebSocketClient client(t.unix_target(), "/ws");
        REQUIRE(t.handler->open.wait());
        for (int i = 0; i < 100; ++i) t.handler->socket->send_text(std::to_string(i));
        t.handler->socket->close(CloseCode::try_again_later, "too slow");
        CHECK_FALSE(t.handler->socket->send_text("late"));
        for (int i = 0; i < 100; ++i) CHECK(client.receive(long_wait)->data == std::to_string(i));
        const auto last = client.receive(long_wait);
        CHECK(last->kind == Kind::closed);
        CHECK(last->close_code == 1013);
        CHECK(last->data == "too slow");
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1013);
    }
    SECTION("abort breaks it") {
        WebSocketClient client(t.unix_target(), "/ws");
        client.send_text("abort");
        CHECK(client.receive(long_wait)->close_code == 1006);
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1006);
        CHECK_FALSE(t.handler->socket->send_text("late"));
    }
    SECTION("a handler that throws breaks its connection alone") {
        WebSocketClient client(t.unix_target(), "/ws");
        client.send_text("throw");
        CHECK(client.receive(long_wait)->close_code == 1006);
        CHECK(ask(t.unix_target(), "GET /none HTTP/1.1\r\nHost: x\r\n\r\n").status == 404);
    }
    SECTION("a client that vanishes is told as 1006") {
        upgraded(t);
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1006);
    }
    SECTION("one that vanishes within a message is at fault") {
        upgraded(t, websocket_frame(0x82, "hello").substr(0, 8));
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1002);
    }
}

TEST_CASE("websocket messages sent before the connection ended arrive though nothing can be answered") {
    WebSocketServer t;
    t.run();
    {
        RawClient client = upgraded(t);
        REQUIRE(t.handler->open.wait());
        t.handler->socket->pause_reading();
        for (int i = 0; i < 10; ++i) client.send(websocket_frame(0x82, "message"));
    }
    t.handler->socket->send_text("nobody takes this");
    t.handler->socket->resume_reading();
    CHECK(t.handler->closed.wait());
    CHECK(t.handler->close_code == 1006);
    CHECK(t.handler->received == 10);
}

TEST_CASE("stop closes websockets with 1001") {
    WebSocketServer t;
    t.run();
    WebSocketClient client(t.unix_target(), "/ws");
    REQUIRE(t.handler->open.wait());
    std::jthread stopper([&] { t.server().stop(long_wait); });
    const auto last = client.receive(long_wait);
    CHECK(last->close_code == 1001);
    stopper.join();
    CHECK(t.handler->close_code == 1001);
    CHECK_FALSE(t.handler->socket->send_text("after the end"));
    t.handler->socket->abort();
}

TEST_CASE("stop without grace drops websockets that do not answer") {
    WebSocketServer t;
    t.run();
    RawClient client = upgraded(t);
    REQUIRE(t.handler->open.wait());
    t.server().stop(0ms);
    CHECK(t.handler->close_code == 1006);
}

TEST_CASE("disconnect closes websockets with 1008") {
    WebSocketServer t;
    t.run();
    WebSocketClient client(t.unix_target(), "/ws");
    REQUIRE(t.handler->open.wait());
    t.server().disconnect([](const Peer&) { return true; }, "certificate removed");
    const auto last = client.receive(long_wait);
    CHECK(last->close_code == 1008);
    CHECK(last->data == "certificate removed");
}
