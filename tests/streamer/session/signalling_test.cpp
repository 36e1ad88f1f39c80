#include "instance-agent/streamer/client/signalling.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "tests/streamer/session/fake_peer.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::streamer;
using test::PeerRecord;

namespace {

const std::string offer_sdp = "v=0\r\nm=audio 9 X\r\na=mid:audio0\r\nm=video 9 X\r\na=mid:video1\r\n";

class Host final : public SignallingHost {
  public:
    void to_gateway(const Json& message) override { sent.push_back(message); }
    void tell_client(const std::string& type, const Json& data) override {
        told.push_back(type + " " + data.dump());
    }
    void show_screen(const ScreenWish& wish) override { screen = wish; }
    PeerSetup peer_setup() override {
        PeerSetup setup;
        setup.fps = 50;
        return setup;
    }
    std::vector<std::string> capabilities() const override {
        return automotive ? std::vector<std::string>{"vhal"} : std::vector<std::string>{};
    }
    void stream_began() override { ++began; }
    void client_silent() override { ++silent; }
    void stream_ended() override { ++ended; }
    void peer_ended() override { ++peers_ended; }
    void channel_opened(const std::string& label) override { channels.push_back("+" + label); }
    void channel_closed(const std::string& label) override { channels.push_back("-" + label); }
    void channel_message(const std::string& label, bool, const std::string& data) override {
        channels.push_back(label + ":" + data);
    }
    void terminate(const std::string& reason) override { terminated = reason; }

    std::vector<Json> sent;
    std::vector<std::string> told;
    ScreenWish screen;
    bool automotive = false;
    int began = 0, ended = 0, silent = 0, peers_ended = 0;
    std::vector<std::string> channels;
    std::string terminated;
};

struct Talk {
    test::ManualClock clock;
    EventQueue queue{clock};
    Host host;
    PeerRecord peers;
    Signalling signalling{host, test::make_fake_peers(peers), queue};

    void say(const std::string& text) {
        signalling.from_gateway(text);
        queue.run_due();
    }
    void join(const std::string& client = "c1", const std::string& more = "") {
        say(R"({"type":"ctl:client-joined","client_id":")" + client + "\"" + more + "}");
    }
    void client(const std::string& members, const std::string& client = "c1") {
        say(R"({"client_id":")" + client + "\"," + members + "}");
    }
    // As far as the offer.
    void begin(const std::string& name = "c1") {
        join(name);
        client(R"("type":"discover")", name);
        client(R"("type":"settings","api_version":2,"enable_speaker":true)", name);
        REQUIRE(peers.events != nullptr);
        peers.events->local_offer(offer_sdp);
        queue.run_due();
    }
    void connect() {
        client(R"("type":"answer","sdp":")" + base64_encode("good answer") + "\"");
        peers.events->connected();
        queue.run_due();
    }
    Json last() const { return host.sent.empty() ? Json() : host.sent.back(); }
    std::string last_error() const {
        const Json message = last();
        if (message.is_null() || message.at("type") != Json("error")) return "no error";
        return message.at("message").as_string();
    }
};

}  // namespace

TEST_CASE("a client gets to its stream step by step") {
    Talk talk;
    talk.host.automotive = true;
    talk.join(
        "c1",
        R"(,"stun_servers":[{"urls":["stun:h:1"],"username":"u","password":"p"}],"screen":{"width":800,"height":601,"density":160})");
    CHECK(talk.host.screen.width == 800);
    CHECK(talk.host.screen.height == 601);
    talk.client(R"("type":"discover")");
    CHECK(
        talk.last() ==
        Json::parse(
            R"({"type":"resp:discover","client_id":"c1","max_api_version":2,"fps":50,"capabilities":["vhal"]})"));
    talk.client(R"("type":"settings","api_version":2,"data_channels":["a"],"enable_camera":true)");
    REQUIRE(talk.peers.made == 1);
    CHECK(talk.peers.setup.settings.data_channels == std::vector<std::string>{"a"});
    CHECK(talk.peers.setup.settings.camera);
    REQUIRE(talk.peers.setup.ice_servers.size() == 1);
    CHECK(talk.peers.setup.ice_servers[0].password == "p");
    talk.peers.events->local_offer(offer_sdp);
    talk.queue.run_due();
    CHECK(talk.last() ==
          Json::object({{"type", "offer"}, {"client_id", "c1"}, {"sdp", base64_encode(offer_sdp)}}));
    talk.peers.events->local_candidate("candidate:1", 1);
    talk.queue.run_due();
    CHECK(talk.last() == Json::object({{"type", "candidate"},
                                       {"client_id", "c1"},
                                       {"candidate", base64_encode("candidate:1")},
                                       {"sdpMid", "video1"},
                                       {"sdpMLineIndex", 1}}));
    CHECK(talk.last().as_object().front().first == "client_id");
    talk.client(R"("type":"candidate","candidate":")" + base64_encode("theirs") +
                R"(","sdpMid":null,"sdpMLineIndex":0)");
    CHECK(talk.peers.candidates == std::vector<std::string>{"theirs@0"});
    CHECK_FALSE(talk.signalling.is_active());
    talk.connect();
    CHECK(talk.peers.answers.size() == 1);
    CHECK(talk.host.began == 1);
    CHECK(talk.signalling.is_active());
}

TEST_CASE("candidates that come before the settings wait for the peer") {
    Talk talk;
    talk.join();
    talk.client(R"("type":"discover")");
    talk.client(R"("type":"candidate","candidate":")" + base64_encode("early") + R"(","sdpMid":"2")");
    talk.client(R"("type":"settings","api_version":2)");
    CHECK(talk.peers.candidates == std::vector<std::string>{"early@2"});
}

TEST_CASE("what a client says wrong is told to it and the next one is served") {
    const auto [message, error] = GENERATE(table<std::string, std::string>(
        {{R"("type":"settings","api_version":2)", "'settings' comes before 'discover'"},
         {R"("type":"answer","sdp":"AA==")", "'answer' does not follow an offer"},
         {R"("type":"candidate","candidate":"AA==","sdpMLineIndex":0)",
          "'candidate' comes before 'discover'"},
         {R"("type":"offer","sdp":"AA==","dataChannels":[])",
          "this instance makes the offer: clients of signalling version 1 are not supported"},
         {R"("kind":"discover")", "type is required"},
         {R"("type":7)", "argument type is invalid: must be a string"}}));
    Talk talk;
    talk.join();
    talk.client(message);
    CHECK(talk.last_error() == error);
    CHECK(talk.last().at("client_id") == Json("c1"));
    talk.begin("c2");
    CHECK(talk.last().at("type") == Json("offer"));
}

TEST_CASE("messages that are wrong after the discovery are told too") {
    const auto [message, error] = GENERATE(table<std::string, std::string>(
        {{R"("type":"settings","api_version":3)", "signalling version 3 is not supported"},
         {R"("type":"settings","api_version":2,"enable_video":"yes")",
          "argument enable_video is invalid: must be true or false"},
         {R"("type":"candidate","candidate":"%%","sdpMLineIndex":0)",
          "'candidate' of the message is missing or is not base64"},
         {R"("type":"candidate","candidate":"AAAA")", "the candidate names no media line"},
         {R"("type":"candidate","candidate":"AAAA","sdpMLineIndex":-1)", "the candidate names no media line"},
         {R"("type":"candidate","candidate":"AAAA","sdpMLineIndex":1000000)",
          "the candidate names no media line"}}));
    Talk talk;
    talk.join();
    talk.client(R"("type":"discover")");
    talk.client(message);
    CHECK(talk.last_error() == error);
    CHECK(talk.peers.made == 0);
}

TEST_CASE("frames that are no messages do no harm") {
    Talk talk;
    for (const char* text :
         {"", "{", "[]", "null", "\"x\"", "{}", R"({"type":null})", R"({"type":"ctl:client-joined"})",
          R"({"type":"ctl:client-left"})", R"({"type":"ctl:of-tomorrow"})", R"({"type":"discover"})"})
        talk.say(text);
    talk.say(std::string((1U << 20) + 1, ' '));
    CHECK(talk.host.sent.empty());
    talk.begin();
    CHECK(talk.last().at("type") == Json("offer"));
}

TEST_CASE("an answer that is no good ends the peer and the client may begin anew") {
    Talk talk;
    talk.begin();
    talk.client(R"("type":"answer","sdp":")" + base64_encode("bad answer") + "\"");
    CHECK(talk.last_error() == "answer has no codec in common");
    CHECK(talk.peers.ended == 1);
    talk.begin();
    talk.connect();
    CHECK(talk.host.began == 1);
}

TEST_CASE("a peer that cannot be made is told and leaves nothing") {
    Talk talk;
    talk.peers.fail_with = "no encoder for what the client can decode";
    talk.join();
    talk.client(R"("type":"discover")");
    talk.client(R"("type":"settings","api_version":2)");
    CHECK(talk.last_error() == "no encoder for what the client can decode");
    CHECK(talk.signalling.peer() == nullptr);
    talk.begin("c2");
    CHECK(talk.last().at("type") == Json("offer"));
}

TEST_CASE("a new client ends the present one at once") {
    Talk talk;
    talk.begin("c1");
    talk.connect();
    PeerEvents* const old_events = talk.peers.events;
    talk.peers.events->channel_message("control", false, "late");
    (void)old_events;
    talk.signalling.from_gateway(R"({"type":"ctl:client-joined","client_id":"c2"})");
    CHECK(talk.peers.ended == 1);
    CHECK(talk.host.ended == 1);
    CHECK(talk.host.peers_ended == 1);
    talk.queue.run_due();
    CHECK(talk.host.channels.empty());  // what the old one sent last is not taken for the new one's
    const std::size_t sent = talk.host.sent.size();
    talk.client(R"("type":"discover")", "c1");
    CHECK(talk.host.sent.size() == sent);
    talk.begin("c2");
    CHECK(talk.peers.made == 2);
}

TEST_CASE("media goes on when the signalling of a connected client ends") {
    Talk talk;
    talk.begin();
    talk.connect();
    talk.say(R"({"type":"ctl:client-left","client_id":"c1","reason":"disconnected"})");
    CHECK(talk.signalling.is_active());
    CHECK(talk.peers.ended == 0);
    talk.clock.advance(std::chrono::hours(1));
    talk.queue.run_due();
    CHECK(talk.signalling.is_active());
}

TEST_CASE("a client that is replaced or out of time loses its media") {
    const std::string reason = GENERATE("replaced", "timeout");
    Talk talk;
    talk.begin();
    talk.connect();
    talk.say(R"({"type":"ctl:client-left","client_id":"c1","reason":")" + reason + "\"}");
    CHECK(talk.peers.ended == 1);
    CHECK(talk.host.ended == 1);
}

TEST_CASE("a client that leaves before its answer ends its peer") {
    Talk talk;
    talk.begin();
    talk.say(R"({"type":"ctl:client-left","client_id":"c1","reason":"disconnected"})");
    CHECK(talk.peers.ended == 1);
    CHECK(talk.host.ended == 0);  // nothing had begun
}

TEST_CASE("a client that leaves after its answer has a while to connect") {
    Talk talk;
    talk.begin();
    talk.client(R"("type":"answer","sdp":")" + base64_encode("good answer") + "\"");
    talk.say(R"({"type":"ctl:client-left","client_id":"c1","reason":"disconnected"})");
    CHECK(talk.peers.ended == 0);
    SECTION("and does") {
        talk.peers.events->connected();
        talk.clock.advance(Signalling::connect_limit);
        talk.queue.run_due();
        CHECK(talk.signalling.is_active());
    }
    SECTION("and does not") {
        talk.clock.advance(Signalling::connect_limit);
        talk.queue.run_due();
        CHECK(talk.peers.ended == 1);
        CHECK(talk.last() == Json::object({{"type", "ctl:stream"}, {"active", false}}));
    }
}

TEST_CASE("a connection that fails is told and the same client may try again") {
    Talk talk;
    talk.begin();
    talk.connect();
    talk.peers.events->failed("no packets for 10 s");
    talk.queue.run_due();
    CHECK(talk.last_error() == "no packets for 10 s");
    CHECK(talk.host.ended == 1);
    CHECK(talk.signalling.peer() == nullptr);
    talk.client(R"("type":"discover")");
    CHECK(talk.last().at("type") == Json("resp:discover"));
}

TEST_CASE("a client that closes its connection has left") {
    Talk talk;
    talk.begin();
    SECTION("while media flows") {
        talk.connect();
        talk.peers.events->left();
        talk.queue.run_due();
        CHECK(talk.host.ended == 1);
    }
    SECTION("before") {
        talk.peers.events->left();
        talk.queue.run_due();
        CHECK(talk.last() == Json::object({{"type", "ctl:stream"}, {"active", false}}));
    }
    CHECK(talk.peers.ended == 1);
    CHECK(talk.host.told.empty());
    CHECK(talk.last_error() == "no error");
}

TEST_CASE("the gateway is answered and obeyed") {
    Talk talk;
    talk.say(R"({"type":"ctl:ping"})");
    CHECK(talk.last() == Json::object({{"type", "ctl:pong"}}));
    talk.begin();
    talk.connect();
    talk.say(R"({"type":"ctl:terminate","reason":"deleted"})");
    CHECK(talk.peers.ended == 1);
    CHECK(talk.host.terminated == "deleted");
}

TEST_CASE("a client that floods a channel does not fill the memory") {
    Talk talk;
    talk.begin();
    talk.connect();
    const std::string message(64U << 10, 'x');
    for (int i = 0; i < 1000; ++i) talk.peers.events->channel_message("control", false, message);
    talk.queue.run_due();
    CHECK(talk.host.channels.size() < 128);
    talk.peers.events->channel_message("control", false, "small");
    talk.queue.run_due();
    CHECK(talk.host.channels.back() == "control:small");
}
