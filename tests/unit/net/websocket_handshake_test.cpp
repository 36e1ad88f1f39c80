#include <catch2/catch.hpp>

#include "libsvc/net/websocket/websocket_client.h"
#include "tests/unit/net/websocket_peer.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("websocket handshake answers the key of the rfc") {
    WebSocketServer t;
    t.run();
    const auto reply = ask(t.unix_target(), websocket_handshake);
    CHECK(reply.status == 101);
    CHECK(reply.head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") != std::string::npos);
}

TEST_CASE("websocket requests that are none are refused") {
    WebSocketServer t;
    t.run();
    CHECK(ask(t.unix_target(), "GET /ws HTTP/1.1\r\nHost: x\r\n\r\n").status == 400);
    auto old = websocket_handshake;
    old.replace(old.find("Version: 13"), 11, "Version: 12");
    const auto reply = ask(t.unix_target(), old);
    CHECK(reply.status == 400);
    CHECK(reply.head.find("Sec-WebSocket-Version: 13") != std::string::npos);
    auto bad_key = websocket_handshake;
    bad_key.replace(bad_key.find("dGhlIHN"), 7, "!!!!!!!");
    CHECK(ask(t.unix_target(), bad_key).status == 400);
    CHECK_THROWS_WITH(WebSocketClient(t.unix_target(), "/none"), Catch::Contains("404"));
    CHECK_FALSE(t.handler->open.is_set());
}

TEST_CASE("one websocket too many is refused") {
    WebSocketServer t;
    t.limits.max_websockets = 1;
    t.run();
    WebSocketClient client(t.unix_target(), "/ws");
    REQUIRE(t.handler->open.wait());
    CHECK(ask(t.unix_target(), websocket_handshake).status == 503);
}
