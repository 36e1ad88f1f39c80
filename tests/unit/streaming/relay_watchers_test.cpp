// Clients that watch beside the one that is present.
#include "libsvc/base/error.h"
#include "tests/unit/streaming/relay_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string watcher_joined(const std::string& client) {
    return R"({"type":"ctl:client-joined","client_id":")" + client + R"(","role":"watch","stun_servers":[]})";
}

std::string watcher_left(const std::string& client, const std::string& reason) {
    return R"({"type":"ctl:client-left","client_id":")" + client + R"(","role":"watch","reason":")" + reason +
           R"("})";
}

// The client "c" is present.
struct WatchedWorld : RelayWorld {
    explicit WatchedWorld(RelayLimits limits = {}) : RelayWorld(limits) { instance.take(); }
    FakePeer watchable() {
        FakePeer peer = connect_instance();
        peer.say(R"({"type":"ctl:register","session_id":"s","codecs":[],"features":["watch"]})");
        return peer;
    }
    FakePeer watch(const std::string& id) {
        relay.expect("s", RelayClient{id, Json::array(), {}, true});
        return FakePeer(relay.slave("s", id));
    }
    FakePeer instance = watchable();
    FakePeer client = connect_client("c");
};

}  // namespace

TEST_CASE("a watcher takes nobody's place and has messages of its own") {
    WatchedWorld t;
    auto first = t.watch("w1"), second = t.watch("w2");
    CHECK(t.client.close_code() == 0);
    first.say(plain("discover"));
    CHECK(t.instance.take() == Texts{watcher_joined("w1"), watcher_joined("w2"), from("w1", "discover")});
    t.instance.say(from("w1", "offer"));
    t.instance.say(from("w2", "answer"));
    t.instance.say(from("c", "candidate"));
    CHECK(first.take() == Texts{plain("offer")});
    CHECK(second.take() == Texts{plain("answer")});
    CHECK(t.client.take() == Texts{plain("candidate")});
    first.hang_up();
    CHECK(t.instance.take() == Texts{watcher_left("w1", "disconnected")});
    t.instance.say(from("w1", "candidate"));  // goes nowhere
    auto next = t.connect_client("d");
    CHECK(t.client.close_reason() == "replaced");
    CHECK(second.close_code() == 0);
}

TEST_CASE("a session is watched only where its instance says that it can be") {
    RelayWorld t;
    CHECK_FALSE(t.relay.is_watchable("s"));
    auto instance = t.registered();
    CHECK_FALSE(t.relay.is_watchable("s"));
    t.relay.expect("s", RelayClient{"w", Json::array(), {}, true});
    FakePeer watcher(t.relay.slave("s", "w"));
    CHECK(watcher.take() == Texts{error_of("instance is not ready", end_code::not_ready)});
    CHECK(watcher.close_code() == 1013);
    CHECK(instance.take().empty());
}

TEST_CASE("watchers are ended with what they depend on, and told why") {
    WatchedWorld t;
    auto watcher = t.watch("w");
    std::string reason = "instance is not ready";
    std::string_view code = end_code::not_ready;
    SECTION("the instance goes") {
        t.instance.hang_up(1006);
    }
    SECTION("the instance comes anew") {
        t.watchable();
    }
    SECTION("the session ends") {
        t.relay.close("s", {reason = "deleted", code = end_code::deleted});
    }
    SECTION("the session fails") {
        t.relay.fail_client("s", {reason = "broken", code = end_code::failed});
    }
    SECTION("the gateway stops") {
        t.relay.stop();
        reason = "the gateway is stopping", code = end_code::gateway_stopping;
    }
    CHECK(watcher.take() == Texts{error_of(reason, code)});
    CHECK(watcher.close_code() != 0);
}

TEST_CASE("a watcher that floods, stalls or lies loses its own connection alone") {
    RelayLimits limits;
    limits.client_messages_per_minute = 5;
    limits.queued_bytes = 4096;
    WatchedWorld t(limits);
    auto watcher = t.watch("w");
    t.instance.take();
    std::string told = "disconnected";
    SECTION("messages without end") {
        for (int i = 0; i < 6; ++i) watcher.say(plain("x"));
        CHECK(watcher.close_code() == 1008);
    }
    SECTION("no JSON") {
        watcher.say("{");
        CHECK(watcher.close_code() == 1008);
    }
    SECTION("messages of the gateway") {
        watcher.say(plain("ctl:terminate"));
        CHECK(watcher.close_code() == 1008);
    }
    SECTION("binary") {
        watcher.say_binary("x");
        CHECK(watcher.close_code() == 1008);
    }
    SECTION("what it is sent is not read") {
        watcher.socket().reads = false;
        for (int i = 0; i < 100; ++i) t.instance.say(from("w", std::string(100, 'x')));
        CHECK(watcher.close_code() == 1013);
        told = "timeout";
    }
    CHECK(t.instance.take().back() == watcher_left("w", told));
    CHECK(t.client.close_code() == 0);
}

TEST_CASE("watchers wait while the instance does not read") {
    RelayLimits limits;
    limits.queued_bytes = 4096;
    WatchedWorld t(limits);
    auto watcher = t.watch("w");
    t.instance.socket().reads = false;
    for (int i = 0; i < 12; ++i) watcher.say(plain(std::string(100, 'x')));
    CHECK(watcher.socket().paused);
    CHECK_FALSE(t.client.socket().paused);
    t.instance.read_all();
    CHECK_FALSE(watcher.socket().paused);
}

TEST_CASE("watchers that signal are limited") {
    WatchedWorld t;
    std::vector<FakePeer> watchers;
    for (std::size_t i = 0; i < RelayLimits().signalling_watchers; ++i)
        watchers.push_back(t.watch("w" + std::to_string(i)));
    auto more = t.watch("more");
    CHECK(more.take() == Texts{error_of("too many clients begin to watch", end_code::refused)});
    watchers.pop_back();
    watchers.back().hang_up();
    CHECK(t.watch("next").close_code() == 0);
}
