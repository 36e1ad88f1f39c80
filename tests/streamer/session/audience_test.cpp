// Several clients of a session: who steers, who watches, and what each of them may do.
#include "instance-agent/streamer/client/audience.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::streamer;

namespace {

using Texts = std::vector<std::string>;

// What each peer was told, by its number in the order in which they were made.
struct Played {
    struct One {
        PeerEvents* events = nullptr;  // null: it has ended
        Texts sent;
        bool watching = false, microphone = false;
        std::size_t buffered = 0;
    };
    std::map<int, One> peers;
    int made = 0;
};

class PlayedPeer final : public Peer {
  public:
    PlayedPeer(Played& played, const PeerSetup& setup, PeerEvents& events)
        : played_(played), number_(++played.made) {
        one() = {&events, {}, setup.watches, setup.settings.microphone, 0};
    }
    ~PlayedPeer() override { one().events = nullptr; }
    PlayedPeer(const PlayedPeer&) = delete;
    PlayedPeer& operator=(const PlayedPeer&) = delete;
    void set_answer(const std::string&) override {}
    void add_candidate(const std::string&, unsigned) override {}
    bool send(const std::string&, bool, std::string_view data) override {
        one().sent.emplace_back(data);
        return true;
    }
    std::size_t buffered(const std::string&) const override { return played_.peers.at(number_).buffered; }
    void set_bitrates(BitrateLimits) override {}
    void set_watching(bool watches) override { one().watching = watches; }
    void hide_screen() override {}
    void show_screen(int, int) override {}
    void set_camera_sink(int, int, int, FrameSink) override {}
    PeerStats stats() const override { return {}; }
    void end() override { one().sent.emplace_back("end"); }

  private:
    Played::One& one() const { return played_.peers[number_]; }
    Played& played_;
    const int number_;
};

// What reaches the guest, and the gateway.
class Host final : public SignallingHost {
  public:
    void to_gateway(const Json& message) override { sent.push_back(message); }
    void tell_client(const std::string&, const Json&) override {}
    void show_screen(const ScreenWish&) override { heard.emplace_back("screen"); }
    PeerSetup peer_setup() override { return {}; }
    std::vector<std::string> capabilities() const override { return {}; }
    void stream_began() override { heard.emplace_back("began"); }
    void client_silent() override { heard.emplace_back("silent"); }
    void stream_ended() override { heard.emplace_back("ended"); }
    void peer_ended() override { heard.emplace_back("gone"); }
    void channel_opened(const std::string& label) override { heard.push_back("+" + label); }
    void channel_closed(const std::string& label) override { heard.push_back("-" + label); }
    void channel_message(const std::string& label, bool, const std::string& data) override {
        heard.push_back(label + ":" + data);
    }
    void terminate(const std::string& reason) override { heard.push_back("terminate " + reason); }
    Texts take() { return std::exchange(heard, {}); }

    std::vector<Json> sent;
    Texts heard;
};

struct Theatre {
    test::ManualClock clock;
    EventQueue queue{clock};
    Host host;
    Played played;
    int changes = 0;
    Audience audience{host,
                      [this](const PeerSetup& setup, PeerEvents& events) {
                          return std::make_unique<PlayedPeer>(played, setup, events);
                      },
                      queue, [this] { ++changes; },
                      [this](const PeerSetup& setup, const std::string&, PeerEvents& events) {
                          return std::make_unique<PlayedPeer>(played, setup, events);
                      }};

    void gateway(const std::string& text) {
        audience.from_gateway(text);
        queue.run_due();
    }
    // Streams, and has opened its control channel. Its peer's number.
    int join(const std::string& id, const std::string& role, const std::string& settings = "") {
        gateway(R"({"type":"ctl:client-joined","client_id":")" + id + R"(","role":")" + role + "\"}");
        const auto client = [&](const std::string& members) {
            gateway(R"({"client_id":")" + id + "\"," + members + "}");
        };
        client(R"("type":"discover")");
        client(R"("type":"settings","api_version":2)" + settings);
        const int number = played.made;
        peer(number).events->local_offer("v=0\r\n");
        queue.run_due();
        client(R"("type":"answer","sdp":")" + base64_encode("answer") + "\"");
        peer(number).events->connected();
        peer(number).events->channel_opened("control");
        gateway(R"({"type":"ctl:client-left","client_id":")" + id + R"(","reason":"disconnected"})");
        return number;
    }
    Played::One& peer(int number) { return played.peers.at(number); }
    void control(int number, const std::string& text) {
        peer(number).events->channel_message("control", false, text);
        queue.run_due();
    }
    bool has_ended(int number) { return peer(number).events == nullptr; }
    // Who steers, as the peer was told last; 0: nobody.
    std::int64_t told_steering(int number) {
        const Json message = Json::parse(peer(number).sent.back());
        REQUIRE(message.at("type") == Json("audience"));
        const Json data = Json::parse(message.at("data").as_string());
        for (const Json& client : data.at("clients").as_array())
            if (client.at("steers").as_bool()) return client.at("number").as_int();
        return 0;
    }
};

const std::string key = R"({"type":"input::key","data":{"code":4,"pressed":true}})";
const std::string take = R"({"type":"audience::take"})", release = R"({"type":"audience::release"})",
                  list = R"({"type":"audience::list"})";

}  // namespace

TEST_CASE("a watcher sees and does not steer, and the one that steers does not notice") {
    Theatre t;
    const int first = t.join("c1", "control"), second = t.join("w1", "watch", R"(,"enable_microphone":true)");
    CHECK(t.host.take() == Texts{"began", "+control"});
    CHECK_FALSE(t.has_ended(first));
    CHECK(t.peer(second).watching);
    CHECK_FALSE(t.peer(second).microphone);
    CHECK(t.audience.watchers() == 1);
    CHECK(t.changes == 1);
    t.control(second, key);
    t.peer(second).events->fell_silent();
    t.peer(second).events->channel_closed("control");
    t.queue.run_due();
    CHECK(t.host.take().empty());
    t.control(first, key);
    CHECK(t.host.take() == Texts{"control:" + key});
}

TEST_CASE("a watcher leaves, and the stream goes on") {
    Theatre t;
    t.join("c1", "control");
    const int watcher = t.join("w1", "watch");
    t.host.take();
    SECTION("by its page") {
        t.control(watcher, R"({"type":"stream::disconnect","data":{}})");
    }
    SECTION("by closing") {
        t.peer(watcher).events->left();
    }
    SECTION("by a broken connection") {
        t.peer(watcher).events->failed("no path");
    }
    t.queue.run_due();
    CHECK(t.has_ended(watcher));
    CHECK(t.host.take().empty());
    CHECK(t.audience.is_active());
    CHECK(t.audience.watchers() == 0);
    CHECK(t.changes == 2);
}

TEST_CASE("the stream lasts as long as somebody watches") {
    Theatre t;
    const int first = t.join("c1", "control"), watcher = t.join("w1", "watch");
    t.peer(first).events->left();
    t.queue.run_due();
    CHECK(t.host.take() == Texts{"began", "+control", "gone"});
    CHECK(t.audience.is_active());
    CHECK(t.audience.peer() == nullptr);
    t.peer(watcher).events->left();
    t.queue.run_due();
    CHECK(t.host.take() == Texts{"ended"});
}

TEST_CASE("a watcher that never connects does not end the others' stream") {
    Theatre t;
    t.join("c1", "control");
    t.gateway(R"({"type":"ctl:client-joined","client_id":"w1","role":"watch"})");
    t.gateway(R"({"client_id":"w1","type":"discover"})");
    t.gateway(R"({"client_id":"w1","type":"settings","api_version":2})");
    t.peer(2).events->failed("no path");
    t.queue.run_due();
    CHECK(t.host.sent.back().at("type") == Json("error"));
    for (const Json& message : t.host.sent) CHECK(message.at("type") != Json("ctl:stream"));
}

TEST_CASE("a watcher takes control, and the one before watches") {
    Theatre t;
    const int first = t.join("c1", "control"), second = t.join("w1", "watch");
    t.control(first, list);
    t.control(second, list);
    CHECK(t.told_steering(first) == 1);
    t.host.take();
    t.control(second, take);
    CHECK(t.host.take() == Texts{"gone", "+control"});
    CHECK_FALSE(t.has_ended(first));
    CHECK(t.peer(first).watching);
    CHECK_FALSE(t.peer(second).watching);
    CHECK(t.told_steering(first) == 2);
    t.control(first, key);
    CHECK(t.host.take().empty());
    t.control(second, key);
    CHECK(t.host.take() == Texts{"control:" + key});
    SECTION("and keeps watching when a new client takes the place of the one that steers") {
        t.gateway(R"({"type":"ctl:client-left","client_id":"c1","reason":"replaced"})");
        t.join("c2", "control");
        CHECK_FALSE(t.has_ended(first));
        CHECK(t.has_ended(second));
        CHECK(t.peer(second).sent.back() == "end");
    }
}

TEST_CASE("control is given to one that is there, by the one that has it") {
    Theatre t;
    const int first = t.join("c1", "control"), second = t.join("w1", "watch");
    t.control(second, R"({"type":"audience::give","data":{"number":2}})");
    CHECK(t.audience.steering() == 1);
    for (const char* data : {"{}", R"({"number":7})", R"({"number":-1})", R"({"number":"2"})", "[]"})
        t.control(first, std::string(R"({"type":"audience::give","data":)") + data + "}");
    CHECK(t.audience.steering() == 1);
    t.control(first, R"({"type":"audience::give","data":{"number":2}})");
    CHECK(t.audience.steering() == 2);
    CHECK(t.peer(first).watching);
}

TEST_CASE("control is let go, and somebody takes it") {
    Theatre t;
    const int first = t.join("c1", "control");
    t.control(first, release);
    CHECK(t.audience.peer() == nullptr);
    t.control(first, key);
    CHECK(t.host.take() == Texts{"began", "+control", "gone"});
    SECTION("the same one") {
        t.control(first, take);
        CHECK(t.audience.steering() == 1);
    }
    SECTION("a new client") {
        t.join("c2", "control");
        CHECK(t.audience.steering() == 2);
        CHECK_FALSE(t.has_ended(first));
    }
}

TEST_CASE("watchers are limited, and the one too many is told") {
    Theatre t;
    t.join("c1", "control");
    for (std::size_t i = 0; i < Audience::most_watchers; ++i) t.join("w" + std::to_string(i), "watch");
    t.gateway(R"({"type":"ctl:client-joined","client_id":"more","role":"watch"})");
    const Json& refused = t.host.sent.back();
    CHECK(refused.at("client_id") == Json("more"));
    CHECK(refused.at("code") == Json("refused"));
    CHECK(refused.at("message") == Json("8 clients watch already"));
    CHECK(t.audience.watchers() == Audience::most_watchers);
    t.peer(3).events->left();
    t.queue.run_due();
    t.join("more", "watch");
    CHECK(t.audience.watchers() == Audience::most_watchers);
}

TEST_CASE("a client that asks for control without end, or does not read, harms nobody") {
    Theatre t;
    const int first = t.join("c1", "control"), second = t.join("w1", "watch");
    t.peer(second).buffered = Audience::most_buffered + 1;
    for (int i = 0; i < 1000; ++i) t.control(second, list);
    CHECK(t.peer(second).sent.empty());
    t.control(second, take);
    CHECK(t.audience.steering() == 1);  // it has asked for too much in this second
    CHECK_FALSE(t.has_ended(first));
}

TEST_CASE("the end of the session is the end of all") {
    Theatre t;
    const int first = t.join("c1", "control"), second = t.join("w1", "watch");
    t.gateway(R"({"type":"ctl:terminate","reason":"deleted","code":"deleted"})");
    CHECK(t.has_ended(first));
    CHECK(t.has_ended(second));
    for (const int number : {first, second})
        CHECK(std::ranges::any_of(t.peer(number).sent, [](const std::string& text) {
            return text.find("deleted") != std::string::npos;
        }));
    CHECK(t.host.heard.back() == "terminate deleted");
}

TEST_CASE("clients whose media comes through the gateway leave no places taken") {
    Theatre t;
    for (unsigned i = 0; i < Audience::most_watchers + 1; ++i) {
        t.gateway(R"({"type":"ctl:media-joined","client_id":"m)" + std::to_string(i) +
                  R"(","role":"watch"})");
        const int number = t.played.made;
        REQUIRE(number == static_cast<int>(i) + 1);
        const bool begins = i % 2 == 0;
        if (begins) t.peer(number).events->connected();
        t.queue.run_due();
        if (begins) t.peer(number).events->left();
        if (!begins) t.clock.advance(Signalling::connect_limit);
        t.queue.run_due();
        CHECK(t.has_ended(number));
    }
    t.join("w", "watch");
    CHECK(t.audience.watchers() == 1);
}

TEST_CASE("a watcher whose end the gateway could not tell holds no place after the gateway is back") {
    Theatre t;
    for (unsigned i = 0; i < Audience::most_watchers; ++i)
        t.gateway(R"({"type":"ctl:client-joined","client_id":"w)" + std::to_string(i) +
                  R"(","role":"watch"})");
    t.audience.gateway_is_back();
    t.queue.run_due();
    t.join("late", "watch");
    CHECK(t.audience.watchers() == 1);
}
