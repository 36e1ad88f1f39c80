#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/websocket_peer.h"

using namespace svc;
using namespace svc::test;
using Kind = WebSocketMessage::Kind;

TEST_CASE("websocket echoes text binary and large messages over every transport") {
    WebSocketServer t;
    t.with_tcp = t.with_tls = true;
    t.run();
    for (const auto& target : {t.unix_target(), t.tcp_target(), t.tls_target()}) {
        WebSocketClient client(target, "/ws");
        for (const std::size_t size : {0UL, 5UL, 125UL, 126UL, 65535UL, 65536UL, 1UL << 20}) {
            const std::string text(size, 'x');
            client.send_text(text);
            auto message = client.receive(long_wait);
            REQUIRE(message);
            CHECK(message->kind == Kind::text);
            CHECK(message->data == text);
            client.send_binary(text);
            message = client.receive(long_wait);
            REQUIRE(message);
            CHECK(message->kind == Kind::binary);
            CHECK(message->data == text);
        }
        client.close();
        const auto last = client.receive(long_wait);
        REQUIRE(last);
        CHECK(last->kind == Kind::closed);
        CHECK(last->close_code == 1000);
    }
}

TEST_CASE("websocket puts fragments together and answers pings between them") {
    WebSocketServer t;
    t.run();
    RawClient client = upgraded(t);
    client.send(websocket_frame(0x01, "one ") + websocket_frame(0x89, "ping"));
    CHECK(client.read_some() == websocket_frame(0x8a, "ping", false));
    client.send(websocket_frame(0x00, "two ") + websocket_frame(0x80, "three"));
    CHECK(client.read_some() == websocket_frame(0x81, "one two three", false));
    client.send(websocket_frame(0x88, std::string("\x03\xe8", 2)));
    CHECK(close_code_of(client.read_to_end()) == 1000);
    CHECK(t.handler->closed.wait());
    CHECK(t.handler->close_code == 1000);
}

TEST_CASE("a thread that writes for a client and for a server masks the client's frames alone") {
    std::string frames;
    net::append_frame(frames, net::FrameKind::text, "masked", true);
    frames.clear();
    net::append_frame(frames, net::FrameKind::text, "plain", false);
    CHECK(frames == std::string("\x81\x05plain"));
}

TEST_CASE("websocket faults of the peer have their close codes") {
    WebSocketServer t;
    t.limits.websocket.max_message = 1000;
    t.run();
    SECTION("invalid UTF-8") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x81, "\xc3\x28"))) == 1007);
    }
    SECTION("a reason that ends within a character") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x88, std::string("\x03\xe8") + "by\xc3"))) == 1007);
    }
    SECTION("too big") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x82, std::string(1001, 'x')))) == 1009);
    }
    SECTION("too big in fragments") {
        const std::string half(600, 'x');
        CHECK(close_code_of(answer_to(t, websocket_frame(0x02, half) + websocket_frame(0x80, half))) == 1009);
    }
    SECTION("unmasked") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x81, "x", false))) == 1002);
    }
    SECTION("reserved bits") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0xc1, "x"))) == 1002);
    }
    SECTION("continuation of nothing") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x80, "x"))) == 1002);
    }
    SECTION("an unknown kind") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x83, "x"))) == 1002);
    }
    SECTION("a second message within the first") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x01, "x") + websocket_frame(0x01, "y"))) == 1002);
    }
    SECTION("invalid UTF-8 over two fragments") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x01, "\xc3") + websocket_frame(0x80, "\x28"))) ==
              1007);
    }
    SECTION("a close code nobody may send") {
        CHECK(close_code_of(answer_to(t, websocket_frame(0x88, std::string("\x03\xed", 2)))) == 1002);
    }
    CHECK(t.handler->closed.wait());
}

TEST_CASE("websocket frames that are malformed end the connection") {
    WebSocketServer t;
    t.limits.websocket.max_message = 1000;
    t.run();
    const auto [name, frame] = GENERATE(table<std::string, std::string>({
        {"a length of 2^63", std::string("\x82\xff\x80\0\0\0\0\0\0\0mask", 14)},
        {"a length of 2^62", std::string("\x82\xff\x40\0\0\0\0\0\0\0mask", 14)},
        {"a length that could be written shorter", std::string("\x82\xfe\0\1maskx", 9)},
        {"a ping in fragments", websocket_frame(0x09, "x")},
        {"a ping that is too long", websocket_frame(0x89, std::string(126, 'x'))},
        {"an unknown kind", websocket_frame(0x83, "x")},
    }));
    CAPTURE(name);
    answer_to(t, frame + websocket_frame(0x81, "behind"));
    REQUIRE(t.handler->closed.wait());
    CHECK((t.handler->close_code == 1002 || t.handler->close_code == 1009));
    CHECK(t.handler->received == 0);
}

// It reads nothing: its pongs are not gathered for it.
TEST_CASE("a flood of pings holds up nobody and is not answered for ever") {
    WebSocketServer t;
    t.run();
    RawClient flooder = upgraded(t);
    std::string pings;
    for (int i = 0; i < 1000; ++i) pings += websocket_frame(0x89, std::string(125, 'x'));
    for (int i = 0; i < 100; ++i) flooder.send(pings);
    WebSocketClient good(t.unix_target(), "/ws");
    good.send_text("hello");
    const auto answer = good.receive(long_wait);
    REQUIRE(answer);
    CHECK(answer->data == "hello");
}

TEST_CASE("websocket messages of one sender keep their order") {
    WebSocketServer t;
    t.with_tls = true;
    t.run();
    WebSocketClient client(t.tls_target(), "/ws");
    REQUIRE(t.handler->open.wait());
    std::jthread sender([&] {
        for (int i = 0; i < 10'000; ++i) t.handler->socket->send_text(std::to_string(i));
    });
    int in_order = 0;
    while (in_order < 10'000) {
        const auto message = client.receive(long_wait);
        if (!message || message->data != std::to_string(in_order)) break;
        ++in_order;
    }
    CHECK(in_order == 10'000);
    CHECK(t.handler->sent.wait());
    // The last message may be here before its sender knows that it has gone.
    eventually("the socket has sent everything", [&] { return t.handler->socket->queued_bytes() == 0; });
}
