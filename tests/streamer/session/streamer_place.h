#pragma once
// The whole streamer but for GStreamer: a played gateway and peer, the real agent.
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>

#include "instance-agent/agent/agent_sockets.h"
#include "instance-agent/streamer/streamer.h"
#include "libsvc/base/digest.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/net/socket/bind.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/streamer/input/fake_input.h"
#include "tests/streamer/session/fake_peer.h"
#include "tests/streamer/session/played_gateway.h"
#include "tests/support/eventually.h"

namespace svc::streamer {

class FixedScreen final : public Screen {
  public:
    explicit FixedScreen(ScreenSize size) : size_(size) {}
    ScreenSize resize(ScreenSize) override { return size_; }
    void set_density(int) override {}

  private:
    const ScreenSize size_;
};

inline agent::Options options_of_agent(const std::filesystem::path& directory) {
    agent::Options options;
    options.session = directory / "data/session.json";
    options.api_socket = directory / "run/api.unix";
    options.guest_socket = directory / "run/guest.unix";
    options.automotive = agent::Automotive::yes;
    make_directories(directory / "run");
    make_directories(directory / "data");
    AgentSession session;
    session.instance_id = "i1";
    session.token = "t";
    session.config.platform = "webrtc";
    write_file_atomically(options.session, session.to_json().dump());
    return options;
}

// There is a client that streams after connect().
struct StreamerPlace {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "streamer-test-"};
    agent::Options agent_place = options_of_agent(directory.path());
    agent::AgentSockets agent{agent_place, false};
    test::PlayedGateway gateway;
    test::PeerRecord peers;
    FileDescriptor collector = net::bind_udp("127.0.0.1:0");
    test::FakeInput* input = nullptr;
    SystemClock clock;
    std::unique_ptr<Streamer> streamer;
    std::jthread thread;

    // `prepare` changes the parts before the streamer is made of them.
    explicit StreamerPlace(const std::function<void(StreamerParts&)>& prepare = {}) {
        StreamerParts parts;
        parts.options.api_socket = agent_place.api_socket;
        parts.options.guest_socket = agent_place.guest_socket;
        parts.options.channels_directory = directory.path() / "run";
        parts.options.capture_socket = directory.path() / "run/screen.unix";
        parts.options.traces_directory = directory.path() / "traces";
        parts.start.session_id = "s1";
        parts.start.gateway = gateway.address();
        parts.start.app = "app";
        parts.facts.instance_id = "i1";
        const std::string address = net::local_address(collector.get());
        parts.facts.metrics_server = MetricsServer{
            "127.0.0.1", static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))), true};
        parts.codecs = {VideoCodec::h264, VideoCodec::vp8};
        parts.screen = std::make_unique<FixedScreen>(ScreenSize{1280, 720});
        auto sink = std::make_unique<test::FakeInput>();
        input = sink.get();
        parts.input = std::move(sink);
        parts.make_peer = test::make_fake_peers(peers);
        if (prepare) prepare(parts);
        streamer = std::make_unique<Streamer>(std::move(parts), clock);
        thread = std::jthread([this] { streamer->run(); });
    }
    ~StreamerPlace() { streamer->stop(); }

    void client(const std::string& members) { gateway.send(R"({"client_id":"c1",)" + members + "}"); }
    void connect(const std::string& settings = "") {
        gateway.await("ctl:status");
        gateway.send(R"({"type":"ctl:client-joined","client_id":"c1","stun_servers":[]})");
        client(R"("type":"discover")");
        gateway.await("resp:discover");
        client(R"("type":"settings","api_version":2)" + settings);
        REQUIRE(test::eventually([&] {
            std::lock_guard lock(peers.mutex);
            return peers.events != nullptr;
        }));
        peers.events->local_offer("v=0\r\n");
        gateway.await("offer");
        client(R"("type":"answer","sdp":")" + base64_encode("good answer") + "\"");
        REQUIRE(test::eventually([&] {
            std::lock_guard lock(peers.mutex);
            return !peers.answers.empty();
        }));
        peers.events->connected();
        CHECK(gateway.await("ctl:stream").at("active") == Json(true));
        peers.events->channel_opened("control");
    }
    void control(const std::string& text) { peers.events->channel_message("control", false, text); }
    // The data of the next message of this type to the client.
    Json told(const std::string& type) {
        Json data;
        REQUIRE(test::eventually([&] {
            for (const std::string& sent : peers.all_sent()) {
                const Json message = Json::parse(sent.substr(sent.find('{')));
                if (message.at("type") != Json(type)) continue;
                data = Json::parse(message.at("data").as_string());
                return true;
            }
            return false;
        }));
        return data;
    }
    Json api(Method method, const std::string& path, const Json& body = {}) const {
        return ControlApi(agent_place.api_socket).call(method, path, body);
    }
    void set_buffered(std::size_t bytes) {
        std::lock_guard lock(peers.mutex);
        peers.buffered = bytes;
    }
    std::size_t buffered_asked() {
        std::lock_guard lock(peers.mutex);
        return peers.buffered_asked;
    }
    // A program of the guest, once the channel has its socket.
    FileDescriptor program_at(const std::string& channel) const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const auto path = directory.path() / "run" / ("webrtc_data_" + channel);
        path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        REQUIRE(test::eventually([&] { return std::filesystem::exists(path); }));
        FileDescriptor program(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::connect(program.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        return program;
    }
    bool api_enabled(const std::string& path) const { return api(Method::get, path).at("enabled").as_bool(); }
};

}  // namespace svc::streamer
