// Media that goes through the gateway: who may, what is passed, and how it ends.
#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/unit/streaming/relay_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

// The instance is told of the media of the client "c".
struct MediaWorld : RelayWorld {
    MediaWorld() {
        instance.say(R"({"type":"ctl:register","session_id":"s","codecs":[],"features":["media","watch"]})");
        relay.expect("s", RelayClient{"c", Json::array(), {}, true});
    }
    FakePeer media_client() { return FakePeer(relay.media_of_client("s", "c")); }
    FakePeer media_instance() { return FakePeer(relay.media_of_instance("s", "c")); }
    FakePeer instance = connect_instance();
};

}  // namespace

TEST_CASE("media of a client meets that of its instance, and nothing is looked at") {
    MediaWorld t;
    auto client = t.media_client();
    CHECK(t.instance.take() == Texts{R"({"type":"ctl:media-joined","client_id":"c","role":"watch"})"});
    client.say("begin");  // waits
    auto instance = t.media_instance();
    CHECK(instance.take() == Texts{"begin"});
    instance.say_binary("picture");
    client.say("key");
    CHECK(client.take() == Texts{"picture"});
    CHECK(instance.take() == Texts{"key"});
    CHECK(t.relay.media().open == 1);
    CHECK(t.relay.media().bytes == 15);
    SECTION("the client closes") {
        client.hang_up();
        CHECK(instance.close_code() == 1000);
    }
    SECTION("the instance closes") {
        instance.hang_up();
        CHECK(client.take() == Texts{error_of("the instance has closed the stream", end_code::stopped)});
        CHECK(client.close_code() == 1000);
    }
    SECTION("the session ends") {
        t.relay.close("s", {"deleted", end_code::deleted});
        CHECK(client.take() == Texts{error_of("deleted", end_code::deleted)});
        CHECK(instance.close_code() == 1000);
    }
    t.relay.tick();
    CHECK(t.relay.media().open == 0);
}

TEST_CASE("media is allowed once, for a client that was let in, by an instance that sends it") {
    MediaWorld t;
    CHECK(code_of([&] { t.relay.media_of_client("s", "stranger"); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { t.relay.media_of_instance("s", "c"); }) == ErrorCode::not_found);
    auto client = t.media_client();
    CHECK(code_of([&] { t.relay.media_of_client("s", "c"); }) == ErrorCode::forbidden);
    auto instance = t.media_instance();
    CHECK(code_of([&] { t.relay.media_of_instance("s", "c"); }) == ErrorCode::forbidden);
    t.instance.say(R"({"type":"ctl:register","session_id":"s","codecs":[]})");
    t.relay.expect("s", RelayClient{"d", Json::array(), {}});
    CHECK(code_of([&] { t.relay.media_of_client("s", "d"); }) == ErrorCode::unavailable);
}

TEST_CASE("a side that does not read holds back the other, and does not fill the memory") {
    MediaWorld t;
    auto client = t.media_client();
    auto instance = t.media_instance();
    client.socket().reads = false;
    while (!instance.socket().paused) instance.say_binary(std::string(100'000, 'x'));
    CHECK(client.socket().queued < 700'000);
    client.read_all();
    CHECK_FALSE(instance.socket().paused);
}

TEST_CASE("a client whose instance does not come, or that says too much, is ended") {
    MediaWorld t;
    auto client = t.media_client();
    std::string reason = "instance is not ready";
    std::string_view code = end_code::not_ready;
    SECTION("after a while") {
        t.pass(std::chrono::seconds(31));
    }
    SECTION("with many messages before") {
        for (int i = 0; i < 65; ++i) client.say("x");
    }
    SECTION("with many bytes before") {
        client.say(std::string(40U << 10, 'x'));
        client.say(std::string(40U << 10, 'x'));
    }
    SECTION("with one that is too big") {
        client.say(std::string((256U << 10) + 1, 'x'));
        reason = "message is too big", code = end_code::refused;
    }
    CHECK(client.take() == Texts{error_of(reason, code)});
    CHECK(client.close_code() == 1000);
}

TEST_CASE("a client that never opens its media holds no place") {
    MediaWorld t;
    const auto never_opened = t.relay.media_of_client("s", "c");
    auto instance = t.media_instance();
    t.pass(std::chrono::seconds(31));
    CHECK(instance.close_code() == 1000);
    CHECK(t.relay.media().open == 0);
}

TEST_CASE("a session has ten streams through the gateway at most") {
    MediaWorld t;
    std::vector<FakePeer> clients;
    const auto come = [&](int number) {
        const std::string id = "x" + std::to_string(number);
        t.relay.expect("s", RelayClient{id, Json::array(), {}, true});
        clients.emplace_back(t.relay.media_of_client("s", id));
    };
    for (int i = 0; i < 10; ++i) come(i);
    CHECK(code_of([&] { come(10); }) == ErrorCode::unavailable);
    clients.front().hang_up();
    come(11);
    CHECK(clients.size() == 11);
}
