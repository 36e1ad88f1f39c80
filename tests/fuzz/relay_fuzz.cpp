// What an instance and its clients send to the relay, line by line: the first letter of a line says who does
// what, the rest is the message. Nothing of a client's own making may reach the instance as if it came from
// another one or from the gateway, and no client_id may reach a client.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/streaming/relay/relay.h"
#include "tests/fuzz/script.h"
#include "tests/fuzz/target.h"
#include "tests/support/deaf.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/streaming/fake_socket.h"

namespace svc::fuzz::relay_target {

namespace {

using namespace svc;
using namespace svc::fuzz;
using namespace svc::test;

void require(bool holds) {
    if (!holds) std::abort();
}

class World {
  public:
    World() : relay_(clock_, small()) {
        relay_.listen(deaf_);
        relay_.open("s");
    }

    void step(char who, std::string text) {
        switch (who) {
            case 'I':
                return (void)instance_.emplace(relay_.master("s"));
            case 'R':
                return instance_say(R"({"type":"ctl:register","session_id":"s"})");
            case 'C':
                return connect();
            case 'i':
                return instance_say(std::move(text));
            case 'c':
                return client_say(std::move(text));
            case 'x':
                return hang_up(instance_);
            case 'y':
                return hang_up(client_);
            case 'f':
                return relay_.fail_client("s", "tried");
            case 't':
                return pass_time();
            default:
                return;
        }
    }
    void check() {
        if (instance_)
            for (const auto& text : instance_->take()) check_for_instance(Json::parse(text));
        if (client_)
            for (const auto& text : client_->take()) require(Json::parse(text).find("client_id") == nullptr);
    }

  private:
    static RelayLimits small() {
        RelayLimits limits;
        limits.queued_messages = 4;
        limits.queued_bytes = 2000;
        limits.message_bytes = 1000;
        limits.client_messages_per_minute = limits.instance_messages_per_minute = 50;
        return limits;
    }
    void check_for_instance(const Json& message) const {
        const std::string& type = message.at("type").as_string();
        const bool ours = type == "error" || type.starts_with("ctl:");
        require(ours || message.at("client_id").as_string().starts_with("client-"));
    }
    void connect() {
        const std::string id = "client-" + std::to_string(++clients_);
        relay_.expect("s", RelayClient{id, Json::array(), {}});
        client_.emplace(relay_.slave("s", id));
    }
    void instance_say(std::string text) {
        if (instance_) instance_->say(std::move(text));
    }
    void client_say(std::string text) {
        if (client_) client_->say(std::move(text));
    }
    static void hang_up(std::optional<FakePeer>& peer) {
        if (peer) peer->hang_up();
        peer.reset();
    }
    void pass_time() {
        clock_.advance(std::chrono::seconds(10));
        relay_.tick();
    }

    ManualClock clock_;
    Deaf deaf_;
    Relay relay_;
    std::optional<FakePeer> instance_, client_;
    int clients_ = 0;
};

}  // namespace

FUZZ_TARGET(relay)(const std::uint8_t* data, std::size_t size) {
    World world;
    for_each_step(data, size, [&](char kind, const std::string& text) {
        world.step(kind, text);
        world.check();
    });
    return 0;
}

}  // namespace svc::fuzz::relay_target
