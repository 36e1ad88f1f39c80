#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/websocket/websocket.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/http/event_stream.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

constexpr std::chrono::seconds patience{20};

// A connection whose peer takes nothing, as long as `queued` is large.
class StuckSocket final : public WebSocket {
  public:
    bool send_text(std::string message) override {
        if (counts) queued += message.size();
        sent.push_back(std::move(message));
        return true;
    }
    bool send_binary(std::string) override { return false; }
    std::size_t queued_bytes() const override { return queued; }
    void close(CloseCode given, std::string_view why) override {
        code = given;
        reason = why;
    }
    void ask_for_turn() override { ++turns_asked; }
    void abort() override {}
    void pause_reading() override {}
    void resume_reading() override {}

    std::size_t queued = std::size_t{1} << 30U;
    int turns_asked = 0;
    bool counts = false;  // what is sent stays in `queued`
    std::vector<std::string> sent;
    CloseCode code = CloseCode::normal;
    std::string reason;
};

Json next_event(WebSocketClient& socket) {
    const auto message = socket.receive(patience);
    REQUIRE(message);
    REQUIRE(message->kind == WebSocketMessage::Kind::text);
    return Json::parse(message->data);
}

}  // namespace

TEST_CASE("the type and the caller are checked before the upgrade") {
    TestDaemon daemon;
    CHECK(daemon.api().get("/1.0/events?type=weather").status == 400);
    CHECK(daemon.api().get("/1.0/events").error() == "websocket upgrade is required");
    for (const char* since : {"x", "", "-1", "1.5", "99999999999999999999"})
        CHECK(daemon.api().get(std::string("/1.0/events?since=") + since).status == 400);
    CHECK(daemon.api().get("/1.0/events?type=all&since=1").error() == "websocket upgrade is required");
    CHECK_THROWS_AS(WebSocketClient(daemon.tls_target(), "/1.0/events"), Error);
    CHECK_THROWS_AS(WebSocketClient(daemon.local_target(), "/1.0/events?type=operation,weather"), Error);
}

TEST_CASE("a subscriber sees every move of an operation in order") {
    TestDaemon daemon;
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=operation");
    const ApiReply accepted =
        daemon.api().upload(Method::post, "/1.0/images", "{\"name\":\"base\"}", image_package());
    std::vector<std::int64_t> codes;
    while (codes.empty() || codes.back() < 200) {
        const Json event = next_event(events);
        CHECK(event.at("type") == Json("operation"));
        CHECK_NOTHROW(from_rfc3339(event.at("timestamp").as_string()));
        CHECK(event.at("metadata").at("id") == Json(accepted.operation_id()));
        codes.push_back(event.at("metadata").at("status_code").as_int());
    }
    CHECK(codes.front() == 105);
    CHECK(codes.at(1) == 103);
    CHECK(codes.back() == 200);
}

TEST_CASE("lifecycle events follow an instance") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=lifecycle");
    const std::string source = "/1.0/containers/" + daemon.api().launch("base");
    for (const char* action :
         {"container-created", "container-scheduled", "container-started", "container-running"}) {
        const Json event = next_event(events);
        CHECK(event.at("metadata").at("action") == Json(action));
        CHECK(event.at("metadata").at("source") == Json(source));
    }
}

TEST_CASE("log lines are events") {
    TestDaemon daemon;
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=logging");
    log::error("something happened", {{"where", "here"}});
    CHECK(next_event(events).at("metadata") ==
          Json::object({{"message", "something happened"},
                        {"level", "error"},
                        {"context", Json::object({{"where", "here"}})}}));
}

TEST_CASE("a subscriber that is too slow is told so and disconnected") {
    const SystemClock clock;
    EventBus bus(clock);
    const auto handler = server::event_stream(bus, {EventType::lifecycle}, {1000, 3}).websocket;
    const auto socket = std::make_shared<StuckSocket>();
    handler->on_open(socket);
    for (int i = 0; i < 3; ++i) bus.publish(EventType::lifecycle, Json::object({{"number", i}}));
    CHECK(socket->reason.empty());
    bus.publish(EventType::lifecycle, Json::object());
    CHECK(socket->code == CloseCode::try_again_later);
    CHECK(socket->reason == "too slow: 4 messages queued");
    CHECK(bus.subscribers() == 0);
}

TEST_CASE("the bytes that wait for a subscriber are bounded too") {
    const SystemClock clock;
    EventBus bus(clock);
    const auto handler = server::event_stream(bus, {EventType::lifecycle}, {1000, 1000}).websocket;
    const auto socket = std::make_shared<StuckSocket>();
    handler->on_open(socket);
    bus.publish(EventType::lifecycle, Json::object({{"text", std::string(1000, 'x')}}));
    CHECK(socket->reason == "too slow: 1 messages queued");
}

TEST_CASE("events between subscribing and the upgrade are kept in order") {
    const SystemClock clock;
    EventBus bus(clock);
    const auto handler = server::event_stream(bus, {EventType::lifecycle}, {}).websocket;
    for (int i = 0; i < 3; ++i) bus.publish(EventType::lifecycle, i);
    const auto socket = std::make_shared<StuckSocket>();
    socket->queued = 0;
    handler->on_open(socket);
    REQUIRE(socket->sent.size() == 3);
    for (int i = 0; i < 3; ++i) CHECK(Json::parse(socket->sent.at(std::size_t(i))).at("metadata") == Json(i));
    handler->on_close(1000, "");
    CHECK(bus.subscribers() == 0);
}

TEST_CASE("what a subscriber has missed comes first as fast as it takes it") {
    const SystemClock clock;
    EventBus bus(clock);
    for (int i = 1; i <= 300; ++i) bus.publish(EventType::lifecycle, Json(std::string(1000, 'x')));
    const auto handler =
        server::event_stream(bus, {EventType::lifecycle, EventType::logging}, {100'000, 50}, 100).websocket;
    const auto socket = std::make_shared<StuckSocket>();
    socket->queued = 0;
    socket->counts = true;
    handler->on_open(socket);
    REQUIRE(socket->sent.size() < 80);  // the rest waits in the window, not in the queue
    bus.publish(EventType::logging, Json::object());
    CHECK(bus.subscribers() == 0);
    std::size_t rounds = 0;
    for (; bus.subscribers() == 0 && rounds < 100; ++rounds) {
        socket->queued = 0;
        handler->on_sent();
    }
    CHECK(rounds > 1);
    socket->queued = 0;
    bus.publish(EventType::logging, Json::object());
    REQUIRE(socket->sent.size() == 201);
    CHECK(socket->turns_asked == 1);
    handler->on_sent();
    REQUIRE(socket->sent.size() == 202);
    for (std::size_t i = 0; i < 202; ++i)
        REQUIRE(Json::parse(socket->sent[i]).at("sequence") == Json(std::int64_t(101 + i)));
    handler->on_close(1000, "");
    CHECK(bus.subscribers() == 0);
}

TEST_CASE("a subscriber that leaves while it reads the past is forgotten") {
    const SystemClock clock;
    EventBus bus(clock);
    for (int i = 1; i <= 200; ++i) bus.publish(EventType::lifecycle, Json(std::string(1000, 'x')));
    auto handler = server::event_stream(bus, {EventType::lifecycle}, {}, 0).websocket;
    const auto socket = std::make_shared<StuckSocket>();
    socket->queued = 0;
    socket->counts = true;
    handler->on_open(socket);
    handler->on_close(1006, "");
    handler.reset();
    bus.publish(EventType::lifecycle, Json::object());
    CHECK(bus.subscribers() == 0);
}

TEST_CASE("events of before a restart can be read again") {
    TestDaemon daemon;
    const std::string operation =
        daemon.api()
            .upload(Method::post, "/1.0/images", "{\"name\":\"base\"}", image_package())
            .operation_id();
    std::int64_t first = 0;
    {
        WebSocketClient events(daemon.local_target(), "/1.0/events?type=operation&since=0");
        for (std::int64_t code = 0; code < 200;) {
            const Json event = next_event(events);
            if (first == 0) first = event.at("sequence").as_int();
            code = event.at("metadata").at("status_code").as_int();
        }
    }
    daemon.restart();
    WebSocketClient events(daemon.local_target(),
                           "/1.0/events?type=operation&since=" + std::to_string(first - 1));
    const Json again = next_event(events);
    CHECK(again.at("sequence") == Json(first));
    CHECK(again.at("metadata").at("id") == Json(operation));
}

}  // namespace svc::test
