// Messages that the relay refuses, and its limits.
#include "tests/support/eventually.h"
#include "tests/unit/streaming/relay_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

TEST_CASE("a client that says too much before the instance is there is ended") {
    RelayLimits limits;
    SECTION("messages") {
        limits.queued_messages = 3;
        RelayWorld t(limits);
        auto client = t.connect_client("c");
        for (int i = 0; i < 3; ++i) client.say(plain("candidate"));
        CHECK(client.close_code() == 0);
        client.say(plain("candidate"));
        CHECK(client.take() == Texts{error_of("instance is not ready", end_code::not_ready)});
        CHECK(client.close_code() == 1013);
        CHECK(client.close_reason() == "instance is not ready");
        CHECK(t.heard.take() == Texts{"client s", "no client s"});
        CHECK(t.registered().take().empty());
    }
    SECTION("bytes") {
        limits.queued_bytes = 1000;
        RelayWorld t(limits);
        auto client = t.connect_client("c");
        client.say(R"({"type":"x","data":")" + std::string(1000, 'x') + "\"}");
        CHECK(client.close_code() == 1013);
    }
}

TEST_CASE("what a client must not say ends its connection with the reason") {
    RelayLimits limits;
    limits.client_messages_per_minute = 2;
    limits.message_bytes = 200;
    Conversation t(limits);
    const auto ends_with = [&](int code, const std::string& reason) {
        CHECK(t.client.close_code() == code);
        CHECK(t.client.close_reason() == reason);
        CHECK(t.client.take() == Texts{error_of(reason, end_code::refused)});
        CHECK(t.instance.take() == Texts{left("c", "disconnected")});
        CHECK(t.heard.take() == Texts{"no client s"});
        t.client.say(plain("late"));
        t.client.hang_up();
        CHECK(t.instance.take().empty());
        CHECK(t.heard.take().empty());
    };
    SECTION("no JSON") {
        t.client.say("hello");
        ends_with(1008, "malformed JSON at byte 0: invalid value");
    }
    SECTION("no object") {
        t.client.say("[]");
        ends_with(1008, "message is not a JSON object");
    }
    SECTION("no type") {
        t.client.say("{}");
        ends_with(1008, "message has no type");
    }
    SECTION("binary") {
        t.client.say_binary(plain("discover"));
        ends_with(1008, "binary messages are not understood");
    }
    SECTION("what is the gateway's to say") {
        t.client.say(plain("ctl:terminate"));
        ends_with(1008, "type 'ctl:terminate' is not for clients");
    }
    SECTION("too big") {
        t.client.say(R"({"type":"x","data":")" + std::string(200, 'x') + "\"}");
        ends_with(1009, "message is too big");
    }
    SECTION("too much within a minute") {
        t.client.say(plain("a"));
        t.client.say(plain("b"));
        CHECK(t.instance.take().size() == 2);
        t.client.say(plain("c"));
        ends_with(1008, "too many messages");
    }
}

TEST_CASE("a slow client may say more over time") {
    RelayLimits limits;
    limits.client_messages_per_minute = 2;
    Conversation t(limits);
    for (int i = 0; i < 10; ++i) {
        t.client.say(plain("a"));
        t.client.say(plain("b"));
        t.clock.advance(1min);
    }
    CHECK(t.client.close_code() == 0);
    CHECK(t.instance.take().size() == 20);
}

TEST_CASE("what an instance must not say ends its connection and it counts as lost") {
    RelayLimits limits;
    limits.message_bytes = 200;
    limits.instance_messages_per_minute = 3;
    Conversation t(limits);
    const auto ends_with = [&](int code, const std::string& reason) {
        CHECK(t.instance.close_code() == code);
        CHECK(t.instance.close_reason() == reason);
        CHECK(t.instance.take() == Texts{error_of(reason, end_code::refused)});
        CHECK(t.heard.take() == Texts{"lost s"});
        CHECK_FALSE(t.relay.is_registered("s"));
        CHECK(t.client.close_code() == 0);
        t.client.say(plain("answer"));
        CHECK(t.registered().take() == Texts{from("c", "answer")});
    };
    SECTION("no JSON") {
        t.instance.say("{");
        ends_with(1008, "malformed JSON at byte 1: missing a name for object member");
    }
    SECTION("for nobody") {
        t.instance.say(plain("offer"));
        ends_with(1008, "message of type 'offer' does not say which client it is for");
    }
    SECTION("binary") {
        t.instance.say_binary("x");
        ends_with(1008, "binary messages are not understood");
    }
    SECTION("a name of an encoder that is too long") {
        t.instance.say(R"({"type":"ctl:stream","active":true,"video_encoder":")" + std::string(65, 'x') +
                       "\"}");
        ends_with(1008, "argument video_encoder is invalid: is longer than 64 bytes");
    }
    SECTION("wrong members") {
        t.instance.say(R"({"type":"ctl:stream","active":"yes"})");
        CHECK(t.instance.close_code() == 1008);
        CHECK(t.instance.close_reason().starts_with("argument active is invalid"));
    }
    SECTION("another session") {
        t.instance.say(R"({"type":"ctl:register","session_id":"other"})");
        ends_with(1008, "session_id is not the one of this session");
    }
    SECTION("too big") {
        t.instance.say(R"({"type":"x","client_id":"c","data":")" + std::string(200, 'x') + "\"}");
        ends_with(1009, "message is too big");
    }
    SECTION("too much within a minute") {
        t.instance.say(from("c", "a"));
        t.instance.say(from("c", "b"));
        t.client.take();
        t.instance.say(from("c", "c"));
        ends_with(1008, "too many messages");
    }
}

TEST_CASE("a client waits while the instance does not read") {
    RelayLimits limits;
    limits.queued_bytes = 400;
    Conversation t(limits);
    t.instance.socket().reads = false;
    test::eventually("the client is held back", [&] {
        if (!t.client.socket().paused) t.client.say(plain("candidate"));
        return t.client.socket().paused;
    });
    CHECK(t.instance.take().size() == 3);
    SECTION("and goes on when it reads") {
        t.instance.read_all();
        CHECK_FALSE(t.client.socket().paused);
    }
    SECTION("and when it is lost, and nothing is lost with it") {
        t.instance.hang_up(1006);
        CHECK_FALSE(t.client.socket().paused);
    }
    SECTION("and when it comes back") {
        auto second = t.connect_instance();
        CHECK_FALSE(t.client.socket().paused);
    }
    SECTION("but an instance with too much unread is ended") {
        int clients = 0;
        while (!t.instance.socket().aborted && clients < 20) t.connect_client(std::to_string(++clients));
        CHECK_THAT(t.heard.take(), Catch::VectorContains(std::string("lost s")));
        CHECK(t.registered().take().back() == joined(std::to_string(clients)));
    }
}

TEST_CASE("a client that does not read is ended") {
    RelayLimits limits;
    limits.queued_bytes = 100;
    Conversation t(limits);
    t.client.socket().reads = false;
    while (t.client.close_code() == 0) t.instance.say(from("c", "candidate"));
    CHECK(t.client.take().size() == 5);
    CHECK(t.client.close_code() == 1013);
    CHECK(t.client.close_reason() == "messages are not read");
    CHECK(t.instance.take() == Texts{left("c", "timeout")});
    CHECK(t.heard.take() == Texts{"no client s"});
}
