#include "libsvc/net/websocket/websocket.h"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "libsvc/net/websocket/websocket_frames.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using Kind = WebSocketMessage::Kind;

namespace {

// Sends back what it gets, and keeps what a test asks about.
class EchoHandler : public WebSocketHandler {
  public:
    void on_open(std::shared_ptr<WebSocket> opened) override {
        socket = std::move(opened);
        open.set();
    }
    void on_message(bool binary, std::string message) override {
        ++received;
        if (message == "abort") return socket->abort();
        if (message == "close") return socket->close(CloseCode::policy, "as you wish");
        if (message == "throw") throw Error(ErrorCode::internal, "handler failed");
        binary ? socket->send_binary(std::move(message)) : socket->send_text(std::move(message));
    }
    void on_sent() override { sent.set(); }
    void on_close(std::uint16_t code, std::string_view) override {
        close_code = code;
        closed.set();
    }
    std::shared_ptr<WebSocket> socket;
    Signal open, sent, closed;
    std::atomic<int> received{0};
    std::atomic<int> close_code{0};
};

// Sends numbers up to the one that is wanted when it has its turn.
class CountingHandler : public WebSocketHandler {
  public:
    void on_open(std::shared_ptr<WebSocket> opened) override {
        socket = std::move(opened);
        open.set();
    }
    void on_message(bool, std::string) override {}
    void on_sent() override {
        while (sent < wanted)
            socket->send_shared_text(std::make_shared<const std::string>(std::to_string(++sent)));
    }
    void on_close(std::uint16_t, std::string_view) override {}
    std::shared_ptr<WebSocket> socket;
    Signal open;
    std::atomic<int> wanted{0};
    int sent = 0;
};

// Takes no input, and what it says has nowhere to go.
class DeafPeerHandler : public EchoHandler {
  public:
    void on_open(std::shared_ptr<WebSocket> opened) override {
        opened->pause_reading();
        EchoHandler::on_open(std::move(opened));
    }
};

struct WebSocketServer : TestServer {
    std::shared_ptr<EchoHandler> handler = std::make_shared<EchoHandler>();
    void run() {
        service.add("/ws", [this](Request&) {
            Response response;
            response.websocket = handler;
            return response;
        });
        start();
    }
};

const std::string handshake =
    "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

// What the server answers to raw frames, up to the end of the connection.
std::string answer_to(WebSocketServer& t, const std::string& frames) {
    RawClient client(t.unix_target());
    client.send(handshake + frames);
    CHECK(client.reply().status == 101);
    return client.read_to_end();
}

std::string frame(int first, std::string_view payload, bool masked = true) {
    std::string out;
    out += static_cast<char>(first);
    const int mask_bit = masked ? 0x80 : 0;
    if (payload.size() < 126)
        out += static_cast<char>(mask_bit | static_cast<int>(payload.size()));
    else {
        out += static_cast<char>(mask_bit | 126);
        out += static_cast<char>(payload.size() >> 8);
        out += static_cast<char>(payload.size() & 0xff);
    }
    if (masked) out += std::string(4, '\0');
    return out + std::string(payload);
}

int close_code_of(const std::string& frames) {
    const auto size = frames.size();
    for (std::size_t at = 0; at + 4 <= size; at += 2 + static_cast<unsigned char>(frames[at + 1]))
        if (static_cast<unsigned char>(frames[at]) == 0x88)
            return static_cast<unsigned char>(frames[at + 2]) << 8 |
                   static_cast<unsigned char>(frames[at + 3]);
    return 0;
}

}  // namespace

TEST_CASE("websocket_handshake_answers_the_key_of_the_rfc") {
    WebSocketServer t;
    t.run();
    const auto reply = ask(t.unix_target(), handshake);
    CHECK(reply.status == 101);
    CHECK(reply.head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") != std::string::npos);
}

TEST_CASE("websocket_requests_that_are_none_are_refused") {
    WebSocketServer t;
    t.run();
    CHECK(ask(t.unix_target(), "GET /ws HTTP/1.1\r\nHost: x\r\n\r\n").status == 400);
    auto old = handshake;
    old.replace(old.find("Version: 13"), 11, "Version: 12");
    const auto reply = ask(t.unix_target(), old);
    CHECK(reply.status == 400);
    CHECK(reply.head.find("Sec-WebSocket-Version: 13") != std::string::npos);
    auto bad_key = handshake;
    bad_key.replace(bad_key.find("dGhlIHN"), 7, "!!!!!!!");
    CHECK(ask(t.unix_target(), bad_key).status == 400);
    CHECK_THROWS_WITH(WebSocketClient(t.unix_target(), "/none"), Catch::Contains("404"));
    CHECK_FALSE(t.handler->open.is_set());
}

TEST_CASE("websocket_echoes_text_binary_and_large_messages_over_every_transport") {
    WebSocketServer t;
    t.with_tcp = t.with_tls = true;
    t.run();
    for (const auto& target : {t.unix_target(), t.tcp_target(), t.tls_target()}) {
        WebSocketClient client(target, "/ws");
        for (const std::size_t size : {0UL, 5UL, 125UL, 126UL, 65535UL, 65536UL, 1UL << 20}) {
            const std::string text(size, 'x');
            client.send_text(text);
            auto message = client.receive(test::long_wait);
            REQUIRE(message);
            CHECK(message->kind == Kind::text);
            CHECK(message->data == text);
            client.send_binary(text);
            message = client.receive(test::long_wait);
            REQUIRE(message);
            CHECK(message->kind == Kind::binary);
            CHECK(message->data == text);
        }
        client.close();
        const auto last = client.receive(test::long_wait);
        REQUIRE(last);
        CHECK(last->kind == Kind::closed);
        CHECK(last->close_code == 1000);
    }
}

TEST_CASE("websocket_puts_fragments_together_and_answers_pings_between_them") {
    WebSocketServer t;
    t.run();
    RawClient client(t.unix_target());
    client.send(handshake);
    CHECK(client.reply().status == 101);
    client.send(frame(0x01, "one ") + frame(0x89, "ping"));
    CHECK(client.read_some() == frame(0x8a, "ping", false));
    client.send(frame(0x00, "two ") + frame(0x80, "three"));
    CHECK(client.read_some() == frame(0x81, "one two three", false));
    client.send(frame(0x88, std::string("\x03\xe8", 2)));
    CHECK(close_code_of(client.read_to_end()) == 1000);
    CHECK(t.handler->closed.wait());
    CHECK(t.handler->close_code == 1000);
}

TEST_CASE("websocket_faults_of_the_peer_have_their_close_codes") {
    WebSocketServer t;
    t.limits.websocket.max_message = 1000;
    t.run();
    SECTION("invalid UTF-8") {
        CHECK(close_code_of(answer_to(t, frame(0x81, "\xc3\x28"))) == 1007);
    }
    SECTION("too big") {
        CHECK(close_code_of(answer_to(t, frame(0x82, std::string(1001, 'x')))) == 1009);
    }
    SECTION("too big in fragments") {
        const std::string half(600, 'x');
        CHECK(close_code_of(answer_to(t, frame(0x02, half) + frame(0x80, half))) == 1009);
    }
    SECTION("unmasked") {
        CHECK(close_code_of(answer_to(t, frame(0x81, "x", false))) == 1002);
    }
    SECTION("reserved bits") {
        CHECK(close_code_of(answer_to(t, frame(0xc1, "x"))) == 1002);
    }
    SECTION("continuation of nothing") {
        CHECK(close_code_of(answer_to(t, frame(0x80, "x"))) == 1002);
    }
    SECTION("a close code nobody may send") {
        CHECK(close_code_of(answer_to(t, frame(0x88, std::string("\x03\xed", 2)))) == 1002);
    }
    CHECK(t.handler->closed.wait());
}

TEST_CASE("websocket_close_and_abort_end_it_from_the_server") {
    WebSocketServer t;
    t.run();
    SECTION("close sends what is queued first") {
        WebSocketClient client(t.unix_target(), "/ws");
        REQUIRE(t.handler->open.wait());
        for (int i = 0; i < 100; ++i) t.handler->socket->send_text(std::to_string(i));
        t.handler->socket->close(CloseCode::try_again_later, "too slow");
        CHECK_FALSE(t.handler->socket->send_text("late"));
        for (int i = 0; i < 100; ++i) CHECK(client.receive(test::long_wait)->data == std::to_string(i));
        const auto last = client.receive(test::long_wait);
        CHECK(last->kind == Kind::closed);
        CHECK(last->close_code == 1013);
        CHECK(last->data == "too slow");
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1013);
    }
    SECTION("abort breaks it") {
        WebSocketClient client(t.unix_target(), "/ws");
        client.send_text("abort");
        CHECK(client.receive(test::long_wait)->close_code == 1006);
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1006);
        CHECK_FALSE(t.handler->socket->send_text("late"));
    }
    SECTION("a handler that throws breaks its connection alone") {
        WebSocketClient client(t.unix_target(), "/ws");
        client.send_text("throw");
        CHECK(client.receive(test::long_wait)->close_code == 1006);
        CHECK(ask(t.unix_target(), "GET /none HTTP/1.1\r\nHost: x\r\n\r\n").status == 404);
    }
    SECTION("a client that vanishes is told as 1006") {
        {
            RawClient client(t.unix_target());
            client.send(handshake);
            CHECK(client.reply().status == 101);
        }
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1006);
    }
    SECTION("one that vanishes within a message is at fault") {
        {
            RawClient client(t.unix_target());
            client.send(handshake + frame(0x82, "hello").substr(0, 8));
            CHECK(client.reply().status == 101);
        }
        CHECK(t.handler->closed.wait());
        CHECK(t.handler->close_code == 1002);
    }
}

TEST_CASE("websocket_messages_sent_before_the_connection_ended_arrive_though_nothing_can_be_answered") {
    WebSocketServer t;
    t.run();
    {
        RawClient client(t.unix_target());
        client.send(handshake);
        CHECK(client.reply().status == 101);
        REQUIRE(t.handler->open.wait());
        t.handler->socket->pause_reading();
        for (int i = 0; i < 10; ++i) client.send(frame(0x82, "message"));
    }
    t.handler->socket->send_text("nobody takes this");
    t.handler->socket->resume_reading();
    CHECK(t.handler->closed.wait());
    CHECK(t.handler->close_code == 1006);
    CHECK(t.handler->received == 10);
}

TEST_CASE("websocket_messages_of_one_sender_keep_their_order") {
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
        const auto message = client.receive(test::long_wait);
        if (!message || message->data != std::to_string(in_order)) break;
        ++in_order;
    }
    CHECK(in_order == 10'000);
    CHECK(t.handler->sent.wait());
    // The last message may be here before its sender knows that it has gone.
    test::eventually("the socket has sent everything",
                     [&] { return t.handler->socket->queued_bytes() == 0; });
}

TEST_CASE("websocket_that_pauses_reading_holds_its_peer_back") {
    WebSocketServer t;
    t.run();
    RawClient client(t.unix_target());
    client.send(handshake);
    CHECK(client.reply().status == 101);
    REQUIRE(t.handler->open.wait());
    t.handler->socket->pause_reading();
    const std::string message = frame(0x82, std::string(60'000, 'x'));
    std::string pending;
    int sent = 0;
    while (sent < 10'000) {
        const ssize_t count = ::send(client.descriptor(), message.data(), message.size(), MSG_DONTWAIT);
        if (count < 0) break;
        ++sent;
        if (static_cast<std::size_t>(count) < message.size()) {
            pending = message.substr(static_cast<std::size_t>(count));
            break;
        }
    }
    CHECK(sent < 10'000);
    CHECK(t.handler->received <= 2);  // one read may have been under way
    t.handler->socket->resume_reading();
    CHECK(client.send(pending));
    std::size_t echoed = 0;
    while (echoed < static_cast<std::size_t>(sent) * 60'004) echoed += client.read_some().size();
    CHECK(t.handler->received == sent);
}

TEST_CASE("stop_closes_websockets_with_1001") {
    WebSocketServer t;
    t.run();
    WebSocketClient client(t.unix_target(), "/ws");
    REQUIRE(t.handler->open.wait());
    std::jthread stopper([&] { t.server().stop(test::long_wait); });
    const auto last = client.receive(test::long_wait);
    CHECK(last->close_code == 1001);
    stopper.join();
    CHECK(t.handler->close_code == 1001);
    CHECK_FALSE(t.handler->socket->send_text("after the end"));
    t.handler->socket->abort();
}

TEST_CASE("stop_without_grace_drops_websockets_that_do_not_answer") {
    WebSocketServer t;
    t.run();
    RawClient client(t.unix_target());
    client.send(handshake);
    CHECK(client.reply().status == 101);
    REQUIRE(t.handler->open.wait());
    t.server().stop(0ms);
    CHECK(t.handler->close_code == 1006);
}

TEST_CASE("disconnect_closes_websockets_with_1008") {
    WebSocketServer t;
    t.run();
    WebSocketClient client(t.unix_target(), "/ws");
    REQUIRE(t.handler->open.wait());
    t.server().disconnect([](const Peer&) { return true; }, "certificate removed");
    const auto last = client.receive(test::long_wait);
    CHECK(last->close_code == 1008);
    CHECK(last->data == "certificate removed");
}

TEST_CASE("one_websocket_too_many_is_refused") {
    WebSocketServer t;
    t.limits.max_websockets = 1;
    t.run();
    WebSocketClient client(t.unix_target(), "/ws");
    REQUIRE(t.handler->open.wait());
    CHECK(ask(t.unix_target(), handshake).status == 503);
}

TEST_CASE("websockets_that_ask_for_a_turn_get_it_and_what_they_send_is_in_order") {
    constexpr int connections = 100, messages = 50;
    TestServer t;
    std::vector<std::shared_ptr<CountingHandler>> handlers;
    t.service.add("/count", [&](Request&) {
        Response response;
        response.websocket = handlers.emplace_back(std::make_shared<CountingHandler>());
        return response;
    });
    t.start();
    std::vector<std::unique_ptr<WebSocketClient>> clients;
    for (int i = 0; i < connections; ++i) {
        clients.push_back(std::make_unique<WebSocketClient>(t.unix_target(), "/count"));
        REQUIRE(handlers.back()->open.wait());
    }
    for (int number = 1; number <= messages; ++number) {
        for (const auto& handler : handlers) {
            handler->wanted = number;
            handler->socket->ask_for_turn();
        }
    }
    for (const auto& client : clients) {
        for (int number = 1; number <= messages; ++number) {
            const auto message = client->receive(test::long_wait);
            REQUIRE(message);
            REQUIRE(message->data == std::to_string(number));
        }
    }
}

TEST_CASE("nothing_is_queued_for_a_client_that_left_while_reading_is_paused") {
    WebSocketServer t;
    t.handler = std::make_shared<DeafPeerHandler>();
    t.run();
    {
        RawClient client(t.unix_target());
        client.send(handshake);
        REQUIRE(client.reply().status == 101);
        REQUIRE(t.handler->open.wait());
        client.send(frame(0x81, "said before"));
    }
    REQUIRE(t.handler->socket->send_text("nobody reads this"));
    REQUIRE(t.handler->sent.wait());
    CHECK(t.handler->socket->queued_bytes() == 0);
    CHECK_FALSE(t.handler->socket->send_text("nor this"));
    CHECK(t.handler->received == 0);
    CHECK_FALSE(t.handler->closed.is_set());
    t.handler->socket->resume_reading();
    CHECK(t.handler->closed.wait());
    CHECK(t.handler->received == 1);
}
