#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/eventually.h"
#include "tests/unit/net/websocket_peer.h"

using namespace svc;
using namespace svc::test;

namespace {

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

}  // namespace

TEST_CASE("websocket that pauses reading holds its peer back") {
    WebSocketServer t;
    t.run();
    RawClient client = upgraded(t);
    REQUIRE(t.handler->open.wait());
    t.handler->socket->pause_reading();
    const std::string message = websocket_frame(0x82, std::string(60'000, 'x'));
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

TEST_CASE("nothing is queued for a client that left while reading is paused") {
    WebSocketServer t;
    t.handler = std::make_shared<DeafPeerHandler>();
    t.run();
    {
        RawClient client = upgraded(t);
        REQUIRE(t.handler->open.wait());
        client.send(websocket_frame(0x81, "said before"));
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

TEST_CASE("websockets that ask for a turn get it and what they send is in order") {
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
            const auto message = client->receive(long_wait);
            REQUIRE(message);
            REQUIRE(message->data == std::to_string(number));
        }
    }
}
