#pragma once
// A relay over sockets without connections, and what it tells.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/streaming/relay/relay.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/streaming/fake_socket.h"

namespace svc::test {

using Texts = std::vector<std::string>;

class Heard final : public RelayEvents {
  public:
    void instance_registered(const std::string& session) override { note("registered " + session); }
    void instance_lost(const std::string& session) override { note("lost " + session); }
    void instance_status(const std::string& session, bool error, const std::string& message) override {
        note((error ? "error " : "running ") + session + " " + message);
    }
    void stream_changed(const std::string& session, bool active, const std::string& encoder) override {
        note((active ? "stream " : "no stream ") + session + (encoder.empty() ? "" : " by " + encoder));
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

inline std::string joined(const std::string& client) {
    return R"({"type":"ctl:client-joined","client_id":")" + client +
           R"(","role":"control","stun_servers":[]})";
}

inline std::string left(const std::string& client, const std::string& reason) {
    return R"({"type":"ctl:client-left","client_id":")" + client + R"(","role":"control","reason":")" +
           reason + R"("})";
}

inline std::string from(const std::string& client, const std::string& type) {
    return R"({"client_id":")" + client + R"(","type":")" + type + R"("})";
}

inline std::string plain(const std::string& type) {
    return R"({"type":")" + type + R"("})";
}

inline std::string error_of(const std::string& reason, std::string_view code = end_code::ended) {
    return R"({"type":"error","code":")" + std::string(code) + R"(","message":")" + reason + R"("})";
}

// One session, "s".
struct RelayWorld {
    explicit RelayWorld(RelayLimits limits = {}) : relay(clock, limits) {
        relay.listen(heard);
        relay.open("s");
    }
    FakePeer connect_instance() { return FakePeer(relay.master("s")); }
    FakePeer registered() {
        FakePeer peer = connect_instance();
        peer.say(R"({"type":"ctl:register","session_id":"s","version":"1","codecs":["VP8"]})");
        return peer;
    }
    FakePeer connect_client(const std::string& id) {
        relay.expect("s", RelayClient{id, Json::array(), {}});
        return FakePeer(relay.slave("s", id));
    }
    void pass(Duration time) {
        using namespace std::chrono_literals;
        for (Duration passed{}; passed < time; passed += 1s) clock.advance(1s), relay.tick();
    }
    ManualClock clock;
    Heard heard;
    Relay relay;
};

// The session has its instance, which knows of the client "c"; nothing else was said.
struct Conversation : RelayWorld {
    explicit Conversation(RelayLimits limits = {}) : RelayWorld(limits) {
        REQUIRE(instance.take() == Texts{joined("c")});
        REQUIRE(heard.take() == Texts{"registered s", "client s"});
    }
    FakePeer instance = registered();
    FakePeer client = connect_client("c");
};

}  // namespace svc::test
