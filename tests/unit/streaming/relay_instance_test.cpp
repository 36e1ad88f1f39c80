// Instances that come late, are lost, come back, and what they report.
#include "tests/unit/streaming/relay_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

TEST_CASE("messages wait for the instance to register") {
    RelayWorld t;
    auto client = t.connect_client("c");
    client.say(plain("discover"));
    auto instance = t.connect_instance();
    CHECK(instance.take().empty());
    CHECK_FALSE(t.relay.is_registered("s"));
    client.say(plain("settings"));
    instance.say(R"({"type":"ctl:register","session_id":"s"})");
    CHECK(instance.take() == Texts{joined("c"), from("c", "discover"), from("c", "settings")});
}

TEST_CASE("messages wait while the instance reconnects and media is not its matter") {
    Conversation t;
    SECTION("the connection broke") {
        t.instance.hang_up(1006);
        CHECK(t.heard.take() == Texts{"lost s"});
        t.client.say(plain("answer"));
        auto second = t.registered();
        CHECK(second.take() == Texts{from("c", "answer")});
        CHECK(t.heard.take() == Texts{"registered s"});
    }
    SECTION("the older connection is still there and is closed") {
        auto second = t.connect_instance();
        CHECK(t.instance.close_code() == 1000);
        CHECK(t.instance.close_reason() == "replaced");
        CHECK_FALSE(t.relay.is_registered("s"));
        t.client.say(plain("answer"));
        t.instance.say(from("c", "late"));
        t.instance.hang_up();
        second.say(R"({"type":"ctl:register","session_id":"s"})");
        CHECK(second.take() == Texts{from("c", "answer")});
        CHECK(t.client.take().empty());
        CHECK(t.heard.take() == Texts{"registered s"});
    }
    SECTION("the socket refuses before its end is known") {
        t.instance.socket().aborted = true;
        t.client.say(plain("answer"));
        CHECK(t.heard.take() == Texts{"lost s"});
        CHECK(t.registered().take() == Texts{from("c", "answer")});
    }
    SECTION("the client leaves meanwhile") {
        t.instance.hang_up(1006);
        t.client.say(plain("answer"));
        t.client.hang_up();
        CHECK(t.registered().take() == Texts{from("c", "answer"), left("c", "disconnected")});
    }
    CHECK(t.client.close_code() == 0);
}

TEST_CASE("an instance that has not registered may say nothing else") {
    RelayWorld t;
    for (const auto& message : {from("c", "offer"), plain("ctl:status"), plain("ctl:unknown")}) {
        auto instance = t.connect_instance();
        instance.say(message);
        CHECK(instance.close_code() == 1008);
        CHECK(instance.close_reason() == "instance has not registered");
    }
    CHECK(t.heard.take().empty());
}

TEST_CASE("what the instance reports is passed to whoever listens") {
    RelayWorld t;
    auto instance = t.registered();
    instance.say(R"({"type":"ctl:status","status":"running"})");
    instance.say(R"({"type":"ctl:stream","active":true,"video_encoder":"vp8enc"})");
    instance.say(R"({"type":"ctl:stream","active":false})");
    instance.say(R"({"type":"ctl:something-newer"})");
    instance.say(R"({"type":"ctl:status","status":"error","message":"no display"})");
    CHECK(t.heard.take() ==
          Texts{"registered s", "running s ", "stream s by vp8enc", "no stream s", "error s no display"});
    CHECK(instance.close_code() == 0);
}

TEST_CASE("an instance that misses three pings is lost") {
    RelayWorld t;
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

TEST_CASE("a connection of an instance that never registers is ended") {
    RelayWorld t;
    auto instance = t.connect_instance();
    for (int i = 0; i < 80; ++i) {
        t.pass(1s);
        instance.say(plain("ctl:pong"));
    }
    CHECK(instance.close_code() == 1008);
    CHECK(instance.close_reason() == "instance did not register");
    CHECK(t.heard.take().empty());
}
