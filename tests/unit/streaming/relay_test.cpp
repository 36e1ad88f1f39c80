// The relay between the clients and the instance of a session, and how it ends.
#include "libsvc/base/error.h"
#include "tests/unit/streaming/relay_fixture.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("messages go both ways in order with client id on the side of the instance alone") {
    RelayWorld t;
    auto instance = t.registered();
    CHECK(t.relay.is_registered("s"));
    auto client = t.connect_client("c");
    client.say(plain("discover"));
    client.say(plain("settings"));
    CHECK(instance.take() == Texts{joined("c"), from("c", "discover"), from("c", "settings")});
    instance.say(from("c", "resp:discover"));
    instance.say(from("c", "offer"));
    CHECK(client.take() == Texts{plain("resp:discover"), plain("offer")});
    CHECK(t.heard.take() == Texts{"registered s", "client s"});
}

TEST_CASE("the instance is told of ice servers and screen of a client") {
    RelayWorld t;
    auto instance = t.registered();
    t.relay.expect("s", RelayClient{"c", Json::array({Json::object({{"urls", Json::array({"stun:a:1"})}})}),
                                    Screen{800, 600, 120, 30}});
    FakePeer client(t.relay.slave("s", "c"));
    const Json told = Json::parse(instance.take().at(0));
    CHECK(told.at("stun_servers").dump() == R"([{"urls":["stun:a:1"]}])");
    CHECK(told.at("screen").at("width") == Json(800));
}

TEST_CASE("a newer client takes the place of the one before") {
    RelayWorld t;
    auto instance = t.registered();
    auto first = t.connect_client("a");
    SECTION("at once") {
        auto second = t.connect_client("b");
        CHECK(first.close_code() == 1000);
        CHECK(first.close_reason() == "replaced");
        CHECK(first.take() == Texts{error_of("another client has taken over", end_code::replaced)});
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
        auto second = t.connect_client("b");
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
        auto second = t.connect_client("b");
        second.say(plain("moot"));
        second.hang_up();
        auto third = t.connect_client("c");
        third.say(plain("discover"));
        CHECK(t.registered().take() == Texts{left("a", "replaced"), joined("c"), from("c", "discover")});
    }
}

TEST_CASE("a client that came and went before the instance is not told of") {
    RelayWorld t;
    auto client = t.connect_client("a");
    client.say(plain("discover"));
    client.hang_up();
    CHECK(t.heard.take() == Texts{"client s", "no client s"});
    CHECK(t.registered().take().empty());
}

TEST_CASE("a grant counts once") {
    RelayWorld t;
    auto client = t.connect_client("c");
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

TEST_CASE("close tells both and forgets the session") {
    Conversation t;
    t.relay.expect("s", RelayClient{"late", Json::array(), {}});
    const auto late_client = t.relay.slave("s", "late");
    const auto late_instance = t.relay.master("s");
    t.relay.close("s", {"session was deleted", end_code::deleted});
    CHECK(t.client.take() == Texts{error_of("session was deleted", end_code::deleted)});
    CHECK(t.client.close_code() == 1000);
    CHECK(t.instance.take().back() ==
          R"({"type":"ctl:terminate","reason":"session was deleted","code":"deleted"})");
    CHECK(t.instance.close_code() == 1000);
    t.instance.say("{");
    t.instance.hang_up();
    t.client.hang_up();
    CHECK(t.heard.take().empty());
    CHECK(t.relay.sessions() == 0);
    FakePeer late(late_client);
    CHECK(late.take() == Texts{error_of("session was deleted", end_code::deleted)});
    CHECK(late.close_reason() == "session ended");
    CHECK(FakePeer(late_instance).close_reason() == "session ended");
    CHECK_THROWS_WITH(t.relay.close("s", ""), "session not found");
    CHECK_THROWS_WITH(t.relay.master("s"), "session not found");
    CHECK_THROWS_WITH(t.relay.slave("s", "c"), "session not found");
    CHECK_THROWS_WITH(t.relay.expect("s", {}), "session not found");
    CHECK_FALSE(t.relay.is_registered("s"));
}

TEST_CASE("fail client tells the client and the instance stays ready for the next") {
    Conversation t;
    t.relay.fail_client("s", "no common codec");
    CHECK(t.client.take() == Texts{error_of("no common codec")});
    CHECK(t.client.close_code() == 1000);
    CHECK(t.instance.take() == Texts{left("c", "disconnected")});
    CHECK(t.heard.take().empty());
    auto next = t.connect_client("d");
    next.say(plain("discover"));
    CHECK(t.instance.take() == Texts{left("c", "replaced"), joined("d"), from("d", "discover")});
}

TEST_CASE("fail client reaches a client that has yet to come") {
    RelayWorld t;
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

TEST_CASE("a gateway that stops tells its clients and not the instances") {
    Conversation t;
    t.relay.expect("s", RelayClient{"late", Json::array(), {}});
    const auto late_client = t.relay.slave("s", "late");
    t.relay.stop();
    const Texts told{error_of("the gateway is stopping", end_code::gateway_stopping)};
    CHECK(t.client.take() == told);
    CHECK(t.client.close_code() == 1001);
    CHECK(t.instance.take().empty());
    CHECK(t.instance.close_code() == 0);
    CHECK(FakePeer(late_client).take() == told);
    t.client.hang_up();
    t.instance.hang_up();
    CHECK(t.heard.take().empty());
}

TEST_CASE("who listens may call the relay and may fail") {
    RelayWorld t;
    SECTION("close") {
        t.heard.on_note = [&] { t.relay.close("s", "enough"); };
        auto instance = t.registered();
        CHECK(instance.close_code() == 1000);
        CHECK(t.relay.sessions() == 0);
    }
    SECTION("throw") {
        t.heard.on_note = [] { throw Error(ErrorCode::internal, "store is full"); };
        auto instance = t.registered();
        auto client = t.connect_client("c");
        CHECK(instance.take() == Texts{joined("c")});
        CHECK(t.heard.take() == Texts{"registered s", "client s"});
    }
}

TEST_CASE("sessions do not hear each other") {
    RelayWorld t;
    t.relay.open("other");
    t.relay.open("other");
    CHECK(t.relay.sessions() == 2);
    auto instance = t.registered();
    FakePeer other(t.relay.master("other"));
    other.say(R"({"type":"ctl:register","session_id":"other"})");
    auto client = t.connect_client("c");
    other.say(from("c", "offer"));
    CHECK(client.take().empty());
    CHECK(other.take().empty());
}

TEST_CASE("connections may outlive the relay") {
    auto t = std::make_unique<RelayWorld>();
    auto instance = t->registered();
    auto client = t->connect_client("c");
    t.reset();
    client.say(plain("discover"));
    instance.say(from("c", "offer"));
    instance.hang_up();
    client.hang_up();
    CHECK(client.take().empty());
}
