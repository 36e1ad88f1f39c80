#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/websocket_client.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

constexpr std::chrono::seconds patience{20};

Json next_event(WebSocketClient& socket) {
    const auto message = socket.receive(patience);
    REQUIRE(message);
    REQUIRE(message->kind == WebSocketMessage::Kind::text);
    return Json::parse(message->data);
}

}  // namespace

TEST_CASE("the_type_and_the_caller_are_checked_before_the_upgrade") {
    TestDaemon daemon;
    CHECK(daemon.api().get("/1.0/events?type=weather").status == 400);
    CHECK(daemon.api().get("/1.0/events").error() == "websocket upgrade is required");
    CHECK_THROWS_AS(WebSocketClient(daemon.tls_target(), "/1.0/events"), Error);
    CHECK_THROWS_AS(WebSocketClient(daemon.local_target(), "/1.0/events?type=operation,weather"), Error);
}

TEST_CASE("a_subscriber_sees_every_move_of_an_operation_in_order") {
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

TEST_CASE("lifecycle_events_follow_an_instance") {
    TestDaemon daemon;
    daemon.api().add_image("base", image_package());
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=lifecycle");
    const std::string source = "/1.0/containers/" + daemon.api().launch("base");
    for (const char* action :
         {"container-created", "container-scheduled", "container-started", "container-running"})
        CHECK(next_event(events).at("metadata") == Json::object({{"action", action}, {"source", source}}));
}

TEST_CASE("log_lines_are_events") {
    TestDaemon daemon;
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=logging");
    log::error("something happened", {{"where", "here"}});
    CHECK(next_event(events).at("metadata") ==
          Json::object({{"message", "something happened"},
                        {"level", "error"},
                        {"context", Json::object({{"where", "here"}})}}));
}

TEST_CASE("a_subscriber_that_is_too_slow_is_told_so_and_disconnected") {
    TestDaemon daemon([](server::Options& options) { options.event_queue_messages = 20; });
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=logging");
    const std::string filler(64U << 10U, 'x');
    for (int i = 0; i < 100; ++i) log::error("filler", {{"text", filler}});
    auto message = events.receive(patience);
    while (message && message->kind == WebSocketMessage::Kind::text) message = events.receive(patience);
    REQUIRE(message);
    CHECK(message->kind == WebSocketMessage::Kind::closed);
    CHECK(message->close_code == 1013);
    CHECK(message->data == "too slow: 21 messages queued");
}

}  // namespace svc::test
