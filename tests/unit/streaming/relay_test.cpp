#include "libsvc/streaming/relay.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/streaming/fake_socket.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

namespace {

class Heard final : public RelayEvents {
  public:
    void instance_registered(const std::string& session) override { note("registered " + session); }
    void instance_lost(const std::string& session) override { note("lost " + session); }
    void instance_status(const std::string& session, bool error, const std::string& message) override {
        note((error ? "error " : "running ") + session + " " + message);
    }
    void stream_changed(const std::string& session, bool active) override {
        note((active ? "stream " : "no stream ") + session);
    }
    void client_connected(const std::string& session) override { note("client " + session); }
    void client_disconnected(const std::string& session) override { note("no client " + session); }

    Texts take() { return std::exchange(notes_, {}); }
    std::function<void()> on_note;

  private:
    void note(std::string text) {
        notes_.push_back(std::move(text));
        if (on_note) on_note();
    }
    Texts notes_;
};

std::string joined(const std::string& client) {
    return R"({"type":"ctl:client-joined","client_id":")" + client + R"(","stun_servers":[]})";
}

std::string left(const std::string& client, const std::string& reason) {
    return R"({"type":"ctl:client-left","client_id":")" + client + R"(","reason":")" + reason + R"("})";
}

std::string from(const std::string& client, const std::string& type) {
    return R"({"client_id":")" + client + R"(","type":")" + type + R"("})";
}

std::string plain(const std::string& type) {
    return R"({"type":")" + type + R"("})";
}

std::string error_of(const std::string& reason) {
    return R"({"type":"error","message":")" + reason + R"("})";
}

struct Fixture {
    explicit Fixture(RelayLimits limits = {}) : relay(clock, limits) {
        relay.listen(heard);
        relay.open("s");
    }
    FakePeer instance() { return FakePeer(relay.master("s")); }
    FakePeer registered() {
        FakePeer peer = instance();
        peer.say(R"({"type":"ctl:register","session_id":"s","version":"1","codecs":["VP8"]})");
        return peer;
    }
    FakePeer client(const std::string& id) {
        relay.expect("s", RelayClient{id, Json::array(), {}});
        return FakePeer(relay.slave("s", id));
    }
    void pass(Duration time) {
        for (Duration passed{}; passed < time; passed += 1s) clock.advance(1s), relay.tick();
    }
    ManualClock clock;
    Heard heard;
    Relay relay;
};

}  // namespace

TEST_CASE("messages_go_both_ways_in_order_with_client_id_on_the_side_of_the_instance_alone") {
    Fixture t;
    auto instance = t.registered();
    CHECK(t.relay.is_registered("s"));
    auto client = t.client("c");
    client.say(plain("discover"));
    client.say(plain("settings"));
    CHECK(instance.take() == Texts{joined("c"), from("c", "discover"), from("c", "settings")});
    instance.say(from("c", "resp:discover"));
    instance.say(from("c", "offer"));
    CHECK(client.take() == Texts{plain("resp:discover"), plain("offer")});
    CHECK(t.heard.take() == Texts{"registered s", "client s"});
}

TEST_CASE("the_instance_is_told_of_ice_servers_and_screen_of_a_client") {
    Fixture t;
    auto instance = t.registered();
    t.relay.expect("s", RelayClient{"c", Json::array({Json::object({{"urls", Json::array({"stun:a:1"})}})}),
                                    Screen{800, 600, 120, 30}});
    FakePeer client(t.relay.slave("s", "c"));
    const Json told = Json::parse(instance.take().at(0));
    CHECK(told.at("stun_servers").dump() == R"([{"urls":["stun:a:1"]}])");
    CHECK(told.at("screen").at("width") == Json(800));
}

TEST_CASE("messages_wait_for_the_instance_to_register") {
    Fixture t;
    auto client = t.client("c");
    client.say(plain("discover"));
    auto instance = t.instance();
    CHECK(instance.take().empty());
    CHECK_FALSE(t.relay.is_registered("s"));
    client.say(plain("settings"));
    instance.say(R"({"type":"ctl:register","session_id":"s"})");
    CHECK(instance.take() == Texts{joined("c"), from("c", "discover"), from("c", "settings")});
}

TEST_CASE("a_client_that_says_too_much_before_the_instance_is_there_is_ended") {
    RelayLimits limits;
    SECTION("messages") {
        limits.queued_messages = 3;
        Fixture t(limits);
        auto client = t.client("c");
        for (int i = 0; i < 3; ++i) client.say(plain("candidate"));
        CHECK(client.close_code() == 0);
        client.say(plain("candidate"));
        CHECK(client.take() == Texts{error_of("instance is not ready")});
        CHECK(client.close_code() == 1013);
        CHECK(client.close_reason() == "instance is not ready");
        CHECK(t.heard.take() == Texts{"client s", "no client s"});
        CHECK(t.registered().take().empty());
    }
    SECTION("bytes") {
        limits.queued_bytes = 1000;
        Fixture t(limits);
        auto client = t.client("c");
        client.say(R"({"type":"x","data":")" + std::string(1000, 'x') + "\"}");
        CHECK(client.close_code() == 1013);
    }
}

TEST_CASE("messages_wait_while_the_instance_reconnects_and_media_is_not_its_matter") {
    Fixture t;
    auto first = t.registered();
    auto client = t.client("c");
    first.take();
    t.heard.take();
    SECTION("the connection broke") {
        first.hang_up(1006);
        CHECK(t.heard.take() == Texts{"lost s"});
        client.say(plain("answer"));
        auto second = t.registered();
        CHECK(second.take() == Texts{from("c", "answer")});
        CHECK(t.heard.take() == Texts{"registered s"});
    }
    SECTION("the older connection is still there and is closed") {
        auto second = t.instance();
        CHECK(first.close_code() == 1000);
        CHECK(first.close_reason() == "replaced");
        CHECK_FALSE(t.relay.is_registered("s"));
        client.say(plain("answer"));
        first.say(from("c", "late"));
        first.hang_up();
        second.say(R"({"type":"ctl:register","session_id":"s"})");
        CHECK(second.take() == Texts{from("c", "answer")});
        CHECK(client.take().empty());
        CHECK(t.heard.take() == Texts{"registered s"});
    }
    SECTION("the socket refuses before its end is known") {
        first.socket().aborted = true;
        client.say(plain("answer"));
        CHECK(t.heard.take() == Texts{"lost s"});
        CHECK(t.registered().take() == Texts{from("c", "answer")});
    }
    SECTION("the client leaves meanwhile") {
        first.hang_up(1006);
        client.say(plain("answer"));
        client.hang_up();
        CHECK(t.registered().take() == Texts{from("c", "answer"), left("c", "disconnected")});
    }
    CHECK(client.close_code() == 0);
}

TEST_CASE("a_newer_client_takes_the_place_of_the_one_before") {
    Fixture t;
    auto instance = t.registered();
    auto first = t.client("a");
    SECTION("at once") {
        auto second = t.client("b");
        CHECK(first.close_code() == 1000);
        CHECK(first.close_reason() == "replaced");
        CHECK(first.take().empty());
        first.say(plain("late"));
        first.hang_up();
        second.say(plain("discover"));
        CHECK(instance.take() ==
              Texts{joined("a"), left("a", "replaced"), joined("b"), from("b", "discover")});
        CHECK(t.heard.take() == Texts{"registered s", "client s", "client s"});
        instance.say(from("a", "offer"));
        instance.say(from("b", "offer"));
        CHECK(second.take() == Texts{plain("offer")});
    }
    SECTION("whose socket is closed already") {
        first.hang_up();
        instance.say(from("a", "candidate"));
        auto second = t.client("b");
        CHECK(instance.take() ==
              Texts{joined("a"), left("a", "disconnected"), left("a", "replaced"), joined("b")});
    }
    SECTION("but not before it connects") {
        t.relay.expect("s", RelayClient{"b", Json::array(), {}});
        const auto handler = t.relay.slave("s", "b");
        CHECK(first.close_code() == 0);
        CHECK(instance.take() == Texts{joined("a")});
    }
    SECTION("while the instance is away") {
        instance.take();
        instance.hang_up(1006);
        first.say(plain("moot"));
        auto second = t.client("b");
        second.say(plain("moot"));
        second.hang_up();
        auto third = t.client("c");
        third.say(plain("discover"));
        CHECK(t.registered().take() == Texts{left("a", "replaced"), joined("c"), from("c", "discover")});
    }
}

TEST_CASE("a_client_that_came_and_went_before_the_instance_is_not_told_of") {
    Fixture t;
    auto client = t.client("a");
    client.say(plain("discover"));
    client.hang_up();
    CHECK(t.heard.take() == Texts{"client s", "no client s"});
    CHECK(t.registered().take().empty());
}

TEST_CASE("a_grant_counts_once") {
    Fixture t;
    auto client = t.client("c");
    CHECK_THROWS_WITH(t.relay.slave("s", "c"), "token was used already");
    CHECK_THROWS_WITH(t.relay.slave("s", "never expected"), "token was used already");
    CHECK(client.close_code() == 0);
    SECTION("and the oldest of many that never come is forgotten") {
        for (int i = 0; i < 17; ++i) t.relay.expect("s", RelayClient{std::to_string(i), Json::array(), {}});
        CHECK_THROWS_AS(t.relay.slave("s", "0"), Error);
        CHECK(t.relay.slave("s", "1") != nullptr);
        CHECK(t.relay.slave("s", "16") != nullptr);
    }
}

TEST_CASE("what_a_client_must_not_say_ends_its_connection_with_the_reason") {
    RelayLimits limits;
    limits.client_messages_per_minute = 2;
    limits.message_bytes = 200;
    Fixture t(limits);
    auto instance = t.registered();
    auto client = t.client("c");
    instance.take();
    const auto ends_with = [&](int code, const std::string& reason) {
        CHECK(client.close_code() == code);
        CHECK(client.close_reason() == reason);
        CHECK(client.take() == Texts{error_of(reason)});
        CHECK(instance.take() == Texts{left("c", "disconnected")});
        CHECK(t.heard.take() == Texts{"registered s", "client s", "no client s"});
        client.say(plain("late"));
        client.hang_up();
        CHECK(instance.take().empty());
        CHECK(t.heard.take().empty());
    };
    SECTION("no JSON") {
        client.say("hello");
        ends_with(1008, "malformed JSON at byte 0: invalid value");
    }
    SECTION("no object") {
        client.say("[]");
        ends_with(1008, "message is not a JSON object");
    }
    SECTION("no type") {
        client.say("{}");
        ends_with(1008, "message has no type");
    }
    SECTION("binary") {
        client.say_binary(plain("discover"));
        ends_with(1008, "binary messages are not understood");
    }
    SECTION("what is the gateway's to say") {
        client.say(plain("ctl:terminate"));
        ends_with(1008, "type 'ctl:terminate' is not for clients");
    }
    SECTION("too big") {
        client.say(R"({"type":"x","data":")" + std::string(200, 'x') + "\"}");
        ends_with(1009, "message is too big");
    }
    SECTION("too much within a minute") {
        client.say(plain("a"));
        client.say(plain("b"));
        CHECK(instance.take().size() == 2);
        client.say(plain("c"));
        ends_with(1008, "too many messages");
    }
}

TEST_CASE("a_slow_client_may_say_more_over_time") {
    RelayLimits limits;
    limits.client_messages_per_minute = 2;
    Fixture t(limits);
    auto instance = t.registered();
    auto client = t.client("c");
    for (int i = 0; i < 10; ++i) {
        client.say(plain("a"));
        client.say(plain("b"));
        t.clock.advance(1min);
    }
    CHECK(client.close_code() == 0);
    CHECK(instance.take().size() == 21);
}

TEST_CASE("what_an_instance_must_not_say_ends_its_connection_and_it_counts_as_lost") {
    RelayLimits limits;
    limits.message_bytes = 200;
    limits.instance_messages_per_minute = 3;
    Fixture t(limits);
    auto instance = t.registered();
    auto client = t.client("c");
    instance.take();
    const auto ends_with = [&](int code, const std::string& reason) {
        CHECK(instance.close_code() == code);
        CHECK(instance.close_reason() == reason);
        CHECK(instance.take() == Texts{error_of(reason)});
        CHECK(t.heard.take() == Texts{"registered s", "client s", "lost s"});
        CHECK_FALSE(t.relay.is_registered("s"));
        CHECK(client.close_code() == 0);
        client.say(plain("answer"));
        CHECK(t.registered().take() == Texts{from("c", "answer")});
    };
    SECTION("no JSON") {
        instance.say("{");
        ends_with(1008, "malformed JSON at byte 1: missing a name for object member");
    }
    SECTION("for nobody") {
        instance.say(plain("offer"));
        ends_with(1008, "message of type 'offer' does not say which client it is for");
    }
    SECTION("binary") {
        instance.say_binary("x");
        ends_with(1008, "binary messages are not understood");
    }
    SECTION("wrong members") {
        instance.say(R"({"type":"ctl:stream","active":"yes"})");
        CHECK(instance.close_code() == 1008);
        CHECK(instance.close_reason().starts_with("argument active is invalid"));
    }
    SECTION("another session") {
        instance.say(R"({"type":"ctl:register","session_id":"other"})");
        ends_with(1008, "session_id is not the one of this session");
    }
    SECTION("too big") {
        instance.say(R"({"type":"x","client_id":"c","data":")" + std::string(200, 'x') + "\"}");
        ends_with(1009, "message is too big");
    }
    SECTION("too much within a minute") {
        instance.say(from("c", "a"));
        instance.say(from("c", "b"));
        client.take();
        instance.say(from("c", "c"));
        ends_with(1008, "too many messages");
    }
}

TEST_CASE("an_instance_that_has_not_registered_may_say_nothing_else") {
    Fixture t;
    for (const auto& message : {from("c", "offer"), plain("ctl:status"), plain("ctl:unknown")}) {
        auto instance = t.instance();
        instance.say(message);
        CHECK(instance.close_code() == 1008);
        CHECK(instance.close_reason() == "instance has not registered");
    }
    CHECK(t.heard.take().empty());
}

TEST_CASE("what_the_instance_reports_is_passed_to_whoever_listens") {
    Fixture t;
    auto instance = t.registered();
    instance.say(R"({"type":"ctl:status","status":"running"})");
    instance.say(R"({"type":"ctl:stream","active":true})");
    instance.say(R"({"type":"ctl:stream","active":false})");
    instance.say(R"({"type":"ctl:something-newer"})");
    instance.say(R"({"type":"ctl:status","status":"error","message":"no display"})");
    CHECK(t.heard.take() ==
          Texts{"registered s", "running s ", "stream s", "no stream s", "error s no display"});
    CHECK(instance.close_code() == 0);
}

TEST_CASE("an_instance_that_misses_three_pings_is_lost") {
    Fixture t;
    auto instance = t.registered();
    t.heard.take();
    t.pass(19s);
    CHECK(instance.take().empty());
    t.pass(1s);
    CHECK(instance.take() == Texts{plain("ctl:ping")});
    SECTION("unless it answers") {
        for (int i = 0; i < 20; ++i) {
            instance.say(plain("ctl:pong"));
            t.pass(20s);
        }
        CHECK(instance.take().size() == 20);
        CHECK(t.heard.take().empty());
    }
    SECTION("and its connection with it") {
        t.pass(59s);
        CHECK(instance.take().size() == 2);
        CHECK(t.heard.take().empty());
        t.pass(1s);
        CHECK(t.heard.take() == Texts{"lost s"});
        CHECK(instance.socket().aborted);
        instance.hang_up(1006);
        CHECK(t.heard.take().empty());
    }
}

TEST_CASE("a_connection_of_an_instance_that_never_registers_is_ended") {
    Fixture t;
    auto instance = t.instance();
    for (int i = 0; i < 80; ++i) {
        t.pass(1s);
        instance.say(plain("ctl:pong"));
    }
    CHECK(instance.close_code() == 1008);
    CHECK(instance.close_reason() == "instance did not register");
    CHECK(t.heard.take().empty());
}

TEST_CASE("a_client_waits_while_the_instance_does_not_read") {
    RelayLimits limits;
    limits.queued_bytes = 400;
    Fixture t(limits);
    auto instance = t.registered();
    auto client = t.client("c");
    instance.take();
    instance.socket().reads = false;
    while (!client.socket().paused) client.say(plain("candidate"));
    CHECK(instance.take().size() == 3);
    SECTION("and goes on when it reads") {
        instance.read_all();
        CHECK_FALSE(client.socket().paused);
    }
    SECTION("and when it is lost, and nothing is lost with it") {
        instance.hang_up(1006);
        CHECK_FALSE(client.socket().paused);
    }
    SECTION("and when it comes back") {
        auto second = t.instance();
        CHECK_FALSE(client.socket().paused);
    }
    SECTION("but an instance with too much unread is ended") {
        t.heard.take();
        int clients = 0;
        while (!instance.socket().aborted && clients < 20) t.client(std::to_string(++clients));
        CHECK_THAT(t.heard.take(), Catch::VectorContains(std::string("lost s")));
        CHECK(t.registered().take().back() == joined(std::to_string(clients)));
    }
}

TEST_CASE("a_client_that_does_not_read_is_ended") {
    RelayLimits limits;
    limits.queued_bytes = 100;
    Fixture t(limits);
    auto instance = t.registered();
    auto client = t.client("c");
    instance.take();
    t.heard.take();
    client.socket().reads = false;
    while (client.close_code() == 0) instance.say(from("c", "candidate"));
    CHECK(client.take().size() == 5);
    CHECK(client.close_code() == 1013);
    CHECK(client.close_reason() == "messages are not read");
    CHECK(instance.take() == Texts{left("c", "timeout")});
    CHECK(t.heard.take() == Texts{"no client s"});
}

TEST_CASE("close_tells_both_and_forgets_the_session") {
    Fixture t;
    auto instance = t.registered();
    auto client = t.client("c");
    t.relay.expect("s", RelayClient{"late", Json::array(), {}});
    const auto late_client = t.relay.slave("s", "late");
    const auto late_instance = t.relay.master("s");
    instance.take();
    t.heard.take();
    t.relay.close("s", "session was deleted");
    CHECK(client.take() == Texts{error_of("session was deleted")});
    CHECK(client.close_code() == 1000);
    CHECK(instance.take().back() == R"({"type":"ctl:terminate","reason":"session was deleted"})");
    CHECK(instance.close_code() == 1000);
    instance.say("{");
    instance.hang_up();
    client.hang_up();
    CHECK(t.heard.take().empty());
    CHECK(t.relay.sessions() == 0);
    CHECK(FakePeer(late_client).close_reason() == "session ended");
    CHECK(FakePeer(late_instance).close_reason() == "session ended");
    CHECK_THROWS_WITH(t.relay.close("s", ""), "session not found");
    CHECK_THROWS_WITH(t.relay.master("s"), "session not found");
    CHECK_THROWS_WITH(t.relay.slave("s", "c"), "session not found");
    CHECK_THROWS_WITH(t.relay.expect("s", {}), "session not found");
    CHECK_FALSE(t.relay.is_registered("s"));
}

TEST_CASE("fail_client_tells_the_client_and_the_instance_stays_ready_for_the_next") {
    Fixture t;
    auto instance = t.registered();
    auto client = t.client("c");
    instance.take();
    t.heard.take();
    t.relay.fail_client("s", "no common codec");
    CHECK(client.take() == Texts{error_of("no common codec")});
    CHECK(client.close_code() == 1000);
    CHECK(instance.take() == Texts{left("c", "disconnected")});
    CHECK(t.heard.take().empty());
    auto next = t.client("d");
    next.say(plain("discover"));
    CHECK(instance.take() == Texts{left("c", "replaced"), joined("d"), from("d", "discover")});
}

TEST_CASE("fail_client_reaches_a_client_that_has_yet_to_come") {
    Fixture t;
    t.relay.expect("s", RelayClient{"c", Json::array(), {}});
    t.relay.fail_client("s", "Container failed to start");
    SECTION("when it comes") {
        FakePeer client(t.relay.slave("s", "c"));
        CHECK(client.take() == Texts{error_of("Container failed to start")});
        CHECK(client.close_code() == 1000);
    }
    SECTION("unless the instance has come back before") {
        auto instance = t.registered();
        FakePeer client(t.relay.slave("s", "c"));
        CHECK(client.close_code() == 0);
        CHECK(instance.take() == Texts{joined("c")});
    }
}

TEST_CASE("who_listens_may_call_the_relay_and_may_fail") {
    Fixture t;
    SECTION("close") {
        t.heard.on_note = [&] { t.relay.close("s", "enough"); };
        auto instance = t.registered();
        CHECK(instance.close_code() == 1000);
        CHECK(t.relay.sessions() == 0);
    }
    SECTION("throw") {
        t.heard.on_note = [] { throw Error(ErrorCode::internal, "store is full"); };
        auto instance = t.registered();
        auto client = t.client("c");
        CHECK(instance.take() == Texts{joined("c")});
        CHECK(t.heard.take() == Texts{"registered s", "client s"});
    }
}

TEST_CASE("sessions_do_not_hear_each_other") {
    Fixture t;
    t.relay.open("other");
    t.relay.open("other");
    CHECK(t.relay.sessions() == 2);
    auto instance = t.registered();
    FakePeer other(t.relay.master("other"));
    other.say(R"({"type":"ctl:register","session_id":"other"})");
    auto client = t.client("c");
    other.say(from("c", "offer"));
    CHECK(client.take().empty());
    CHECK(other.take().empty());
}

TEST_CASE("connections_may_outlive_the_relay") {
    auto t = std::make_unique<Fixture>();
    auto instance = t->registered();
    auto client = t->client("c");
    t.reset();
    client.say(plain("discover"));
    instance.say(from("c", "offer"));
    instance.hang_up();
    client.hang_up();
    CHECK(client.take().empty());
}
