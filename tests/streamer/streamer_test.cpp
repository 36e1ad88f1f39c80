// The whole streamer but for GStreamer: a played gateway and peer, the real agent.
#include "instance-agent/streamer/streamer.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>

#include "instance-agent/interfaces.h"
#include "libsvc/base/digest.h"
#include "libsvc/model/instance.h"
#include "libsvc/net/bind.h"
#include "tests/agent/guest_client.h"
#include "tests/streamer/fake_input.h"
#include "tests/streamer/fake_peer.h"
#include "tests/streamer/played_gateway.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;

namespace {

agent::Options agent_options(const std::filesystem::path& directory) {
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

struct Place {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "streamer-test-"};
    agent::Options agent_place = agent_options(directory.path());
    agent::Interfaces agent{agent_place, false};
    test::PlayedGateway gateway;
    test::PeerRecord peers;
    FileDescriptor collector = net::bind_udp("127.0.0.1:0");
    test::FakeInput* input = nullptr;
    SystemClock clock;
    std::unique_ptr<Streamer> streamer;
    std::jthread thread;

    Place() {
        StreamerParts parts;
        parts.options.api_socket = agent_place.api_socket;
        parts.options.guest_socket = agent_place.guest_socket;
        parts.options.channels_directory = directory.path() / "run";
        parts.options.traces_directory = directory.path() / "traces";
        parts.start.session_id = "s1";
        parts.start.gateway = gateway.address();
        parts.start.app = "app";
        parts.facts.instance_id = "i1";
        const std::string address = net::local_address(collector.get());
        parts.facts.metrics_server = MetricsServer{
            "127.0.0.1", static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))), true};
        parts.codecs = {VideoCodec::h264, VideoCodec::vp8};
        parts.screen = make_fixed_screen({1280, 720});
        auto sink = std::make_unique<test::FakeInput>();
        input = sink.get();
        parts.input = std::move(sink);
        parts.make_peer = test::make_fake_peers(peers);
        streamer = std::make_unique<Streamer>(std::move(parts), clock);
        thread = std::jthread([this] { streamer->run(); });
    }
    ~Place() { streamer->stop(); }

    void client(const std::string& members) { gateway.send(R"({"client_id":"c1",)" + members + "}"); }
    void connect(const std::string& settings = "") {
        gateway.await("ctl:status");
        gateway.send(R"({"type":"ctl:client-joined","client_id":"c1","stun_servers":[]})");
        client(R"("type":"discover")");
        gateway.await("resp:discover");
        client(R"("type":"settings","api_version":2)" + settings);
        REQUIRE(eventually([&] {
            std::lock_guard lock(peers.mutex);
            return peers.events != nullptr;
        }));
        peers.events->local_offer("v=0\r\n");
        gateway.await("offer");
        client(R"("type":"answer","sdp":")" + base64_encode("good answer") + "\"");
        REQUIRE(eventually([&] {
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
        REQUIRE(eventually([&] {
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
        REQUIRE(eventually([&] { return std::filesystem::exists(path); }));
        FileDescriptor program(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::connect(program.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        return program;
    }
    bool api_enabled(const std::string& path) const { return api(Method::get, path).at("enabled").as_bool(); }
};

}  // namespace

TEST_CASE("a_streamer_registers_and_serves_a_client_to_its_end") {
    Place place;
    const Json hello = place.gateway.await("ctl:register");
    CHECK(hello.at("session_id") == Json("s1"));
    CHECK(hello.at("codecs") == Json::array({"H264", "VP8"}));
    place.connect();
    place.peers.stats.streams.push_back({.kind = "video", .ssrc = 9});
    place.control(R"({"type":"stream::disconnect","data":{}})");
    CHECK(place.gateway.await("ctl:stream").at("active") == Json(false));
    REQUIRE(eventually([&] {
        std::lock_guard lock(place.peers.mutex);
        return place.peers.ended == 1;
    }));
    std::string text(2000, '\0');  // the last sample of the stream
    REQUIRE(
        eventually([&] { return recv(place.collector.get(), text.data(), text.size(), MSG_DONTWAIT) > 0; }));
    CHECK(text.starts_with("webrtc,instance=i1,app=app,session=s1,kind=video,ssrc=9 "));
    CHECK(text.find("relay_in_use=0i") != std::string::npos);
}

TEST_CASE("the_end_of_the_session_ends_the_streamer") {
    Place place;
    place.connect();
    place.gateway.send(R"({"type":"ctl:terminate","reason":"deleted"})");
    place.thread.join();
    CHECK(place.peers.ended == 1);
}

TEST_CASE("media_goes_on_while_the_gateway_is_away_and_it_is_told_of_it") {
    Place place;
    place.connect();
    place.gateway.drop();
    place.gateway.await("ctl:register");
    CHECK(place.gateway.await("ctl:stream").at("active") == Json(true));
    CHECK(place.peers.ended == 0);
}

TEST_CASE("a_place_of_the_client_reaches_the_guest_unless_an_operator_gives_one") {
    Place place;
    place.connect();
    test::GuestClient guest(place.agent_place.guest_socket);
    guest.hello();
    const std::string update =
        R"({"type":"location::update-position","data":{"time":1,"latitude":48.5,"longitude":11.5,"altitude":5,"speed":0,"bearing":0}})";
    place.control(update);
    REQUIRE(eventually([&] { return place.api_enabled("/1.0/location"); }));
    REQUIRE(eventually([&] {
        const Json fix = guest.ask(R"({"id":2,"op":"location.get"})");
        return fix.at("ok").as_bool() && fix.at("latitude") == Json(48.5);
    }));
    place.control(R"({"type":"stream::disconnect"})");
    REQUIRE(eventually([&] { return !place.api_enabled("/1.0/location"); }));
}

TEST_CASE("values_of_the_clients_sensors_reach_the_guest_in_its_units") {
    Place place;
    place.connect();
    test::GuestClient guest(place.agent_place.guest_socket);
    guest.hello();
    guest.ask(R"({"id":2,"op":"sensors.activate","type":"gyroscope","on":true,"delay_ms":10})");
    CHECK(place.told("activate-sensor") == Json::object({{"type", "gyroscope"}}));
    place.control(
        R"({"type":"sensor:event","data":{"sensor":"acceleration","x":1,"y":2,"z":3}})");  // not active
    place.control(R"({"type":"sensor:event","data":{"sensor":"gyroscope","x":180,"y":0,"z":-90}})");
    const Json values = guest.receive_json().at("values");
    CHECK(values.as_array()[0].as_double() == Approx(3.14159265));
    CHECK(values.as_array()[2].as_double() == Approx(-1.57079633));
    guest.send_json(R"({"id":3,"op":"sensors.activate","type":"gyroscope","on":false})");
    CHECK(place.told("deactivate-sensor") == Json::object({{"type", "gyroscope"}}));
}

TEST_CASE("vehicle_properties_are_answered_in_order") {
    Place place;
    place.connect();
    place.control(R"({"type":"vhal::get-all-prop-configs"})");
    CHECK(place.told("vhal-prop-configs").as_array().size() > 10);
    place.control(R"({"type":"vhal::get","data":{"prop":286261505,"access":1,"area_configs":[]}})");
    place.control(R"({"type":"vhal::get","data":{"prop":1}})");
    place.control(R"({"type":"vhal::get","data":{"prop":291504388,"area_id":0}})");
    place.control(
        R"({"type":"vhal::set","data":{"prop":286261505,"area_id":0,"status":0,"string_value":"Ours"}})");
    place.control(R"({"type":"vhal::set","data":{"prop":286261505,"area_id":0,"int32_values":[1]}})");
    std::vector<Json> answers;
    REQUIRE(eventually([&] {
        answers.clear();
        for (const std::string& sent : place.peers.all_sent()) {
            const Json message = Json::parse(sent.substr(sent.find('{')));
            if (message.at("type").as_string().ends_with("-answer"))
                answers.push_back(Json::parse(message.at("data").as_string()));
        }
        return answers.size() == 5;
    }));
    CHECK(answers[0].at("prop") == Json(286261505));
    CHECK(answers[0].at("string_value") == Json("Toy Vehicle"));
    CHECK(answers[1].at("prop") == Json(1));
    CHECK(answers[1].at("error") == Json("Unknown property 1"));
    CHECK(answers[2].at("prop") == Json(291504388));
    CHECK(answers[3] == Json::object({{"prop", 286261505}, {"area_id", 0}}));
    CHECK(answers[4].find("error") != nullptr);
}

TEST_CASE("the_clients_camera_is_used_while_a_guest_has_it_open") {
    Place place;
    place.connect(R"(,"enable_camera":true,"enable_microphone":true)");
    test::GuestClient guest(place.agent_place.guest_socket);
    guest.hello();
    const Json camera = guest.ask(R"({"id":2,"op":"camera.list"})").at("cameras").as_array()[0];
    const Json opened =
        guest.ask(R"({"id":3,"op":"camera.open","width":640,"height":480,"fps":30,"camera":)" +
                  camera.at("id").dump() + "}");
    CHECK(place.told("open-camera").at("resolution") == Json::object({{"width", 640}, {"height", 480}}));
    REQUIRE(eventually([&] {
        std::lock_guard lock(place.peers.mutex);
        return static_cast<bool>(place.peers.camera);
    }));
    CHECK(place.api_enabled("/1.0/camera"));
    const std::vector<std::uint8_t> pixels(640 * 480 * 4, 0x55);
    place.peers.camera(pixels.data(), pixels.size());
    guest.send_json(R"({"id":4,"op":"camera.close","handle":)" + opened.at("handle").dump() + "}");
    place.told("close-camera");
    CHECK(eventually([&] { return !place.api_enabled("/1.0/camera"); }));
}

TEST_CASE("input_reaches_its_sink_and_is_let_go_at_the_end") {
    Place place;
    place.connect();
    place.control("no JSON");
    place.control(R"({"type":"unknown"})");
    place.control(R"({"type":"input::key","data":{"code":4,"pressed":true}})");
    place.control(R"({"type":"stream::disconnect"})");
    place.gateway.await("ctl:stream");
    place.streamer->stop();
    place.thread.join();
    CHECK(place.input->take() == std::vector<std::string>{"size 1280 720", "key 30 true", "release"});
}

TEST_CASE("a_channel_of_the_page_is_a_socket_in_the_guest") {
    Place place;
    place.connect(R"(,"data_channels":["chat"])");
    place.peers.events->channel_opened("chat");
    const auto path = place.directory.path() / "run/webrtc_data_chat";
    const FileDescriptor program = place.program_at("chat");
    place.set_buffered(PageWriter::max_buffered + 1);
    write_all(program.get(), "hello page");
    place.peers.events->channel_message("chat", true, "hello guest");
    char text[11];
    CHECK(recv(program.get(), text, sizeof(text), MSG_WAITALL) == 11);
    CHECK(place.peers.all_sent().empty());  // the page is slow
    place.set_buffered(0);
    CHECK(eventually(
        [&] { return place.peers.all_sent() == std::vector<std::string>{"chat binary hello page"}; }));
    place.peers.events->channel_closed("chat");
    CHECK(eventually([&] { return !std::filesystem::exists(path); }));
}

TEST_CASE("what_programs_write_reaches_a_slow_page_in_its_order") {
    Place place;
    place.connect(R"(,"data_channels":["chat"])");
    place.peers.events->channel_opened("chat");
    const FileDescriptor program = place.program_at("chat");
    std::vector<std::string> wanted;
    for (const std::string round : {"1", "2", "3", "4", "5"}) {
        const std::size_t before = place.buffered_asked();
        place.set_buffered(PageWriter::max_buffered + 1);
        write_all(program.get(), "first " + round);
        REQUIRE(eventually([&] { return place.buffered_asked() > before; }));
        place.set_buffered(0);
        write_all(program.get(), "second " + round);
        wanted.push_back("chat binary first " + round);
        wanted.push_back("chat binary second " + round);
        REQUIRE(eventually([&] { return place.peers.all_sent().size() >= wanted.size(); }));
    }
    CHECK(place.peers.all_sent() == wanted);
}

TEST_CASE("what_is_held_is_let_go_when_the_control_channel_closes") {
    Place place;
    place.connect();
    place.control(R"({"type":"input::mouse-button","data":{"button":1,"pressed":true}})");
    place.peers.events->channel_closed("control");
    place.gateway.send(R"({"type":"ctl:ping"})");
    place.gateway.await("ctl:pong");
    CHECK(place.peers.ended == 0);
    place.streamer->stop();
    place.thread.join();
    CHECK(place.input->take() ==
          std::vector<std::string>{"size 1280 720", "button 1 true", "release", "release"});
}

TEST_CASE("what_is_held_is_let_go_when_the_client_falls_silent") {
    Place place;
    place.connect();
    place.control(R"({"type":"input::key","data":{"code":4,"pressed":true}})");
    place.peers.events->fell_silent();
    place.control(R"({"type":"input::key","data":{"code":5,"pressed":true}})");  // it came back
    place.control(R"({"type":"stream::disconnect"})");
    place.gateway.await("ctl:stream");
    place.streamer->stop();
    place.thread.join();
    CHECK(place.input->take() ==
          std::vector<std::string>{"size 1280 720", "key 30 true", "release", "key 48 true", "release"});
}

TEST_CASE("a_client_that_floods_with_text_is_held_back_by_its_length") {
    Place place;
    place.connect();
    const std::string text(2000, 'x');
    for (int i = 0; i < 100; ++i)
        place.control(R"({"type":"input::ime-event","data":{"type":1,"data":{"text":")" + text + R"("}}})");
    place.control(R"({"type":"stream::disconnect"})");
    place.gateway.await("ctl:stream");
    place.streamer->stop();
    place.thread.join();
    const auto notes = place.input->take();
    const auto typed =
        std::count_if(notes.begin(), notes.end(), [](const auto& note) { return note.starts_with("text"); });
    CHECK(typed >= 2);
    CHECK(typed < 50);
}

TEST_CASE("a_client_that_asks_and_does_not_listen_loses_its_stream") {
    Place place;
    place.connect();
    place.set_buffered(Streamer::max_control_buffered + 1);
    place.control(R"({"type":"vhal::get-all-prop-configs"})");
    CHECK(place.gateway.await("ctl:stream").at("active") == Json(false));
    CHECK(place.peers.all_sent().empty());
}

TEST_CASE("the_log_of_a_stream_is_a_file_while_the_platform_wants_it") {
    Place place;
    const auto directory = place.directory.path() / "traces";
    const auto log = [&](int number) {
        const auto path = directory / ("rtc_log." + std::to_string(number));
        return std::filesystem::exists(path) ? read_file(path) : "";
    };
    const auto wish = [&](bool wanted) {
        place.api(Method::patch, "/1.0/platform",
                  Json::object({{"config", Json::object({{"rtc_log", wanted}})}}));
    };
    place.connect();
    CHECK_FALSE(std::filesystem::exists(directory));
    wish(true);
    REQUIRE(eventually([&] {
        place.client(R"("type":"candidate","candidate":"YQ==","sdpMLineIndex":0)");
        return log(0).find(R"("event":"received","message":)") != std::string::npos;
    }));
    wish(false);
    REQUIRE(eventually([&] { return log(0).ends_with("\"event\":\"end\"}\n"); }));
    wish(true);
    REQUIRE(eventually([&] {
        place.client(R"("type":"candidate","candidate":"YQ==","sdpMLineIndex":0)");
        return !log(1).empty();
    }));
    place.gateway.send(
        R"({"type":"ctl:client-joined","client_id":"c2","stun_servers":[{"urls":["turn:x"],"password":"geheim"}]})");
    place.gateway.await("ctl:stream");
    CHECK(log(1).find(R"("event":"figures")") != std::string::npos);
    CHECK(log(1).find("geheim") == std::string::npos);
}

TEST_CASE("logs_of_streams_are_few_and_not_too_long") {
    const TemporaryDirectory place(std::filesystem::temp_directory_path(), "rtc-log-test-");
    SystemClock clock;
    RtcLog log(place.path(), clock);
    log.enable(true);
    const std::string megabyte(1U << 20, 'x');
    for (int i = 0; i < 10; ++i) log.note("much", {{"text", megabyte}});
    CHECK(std::filesystem::file_size(place.path() / "rtc_log.0") <= RtcLog::max_file);
    for (unsigned i = 0; i < RtcLog::max_files + 5; ++i) {
        log.end();
        log.note("again");
    }
    const std::filesystem::directory_iterator files(place.path());
    CHECK(static_cast<unsigned>(std::distance(begin(files), end(files))) == RtcLog::max_files);
    CHECK_FALSE(std::filesystem::exists(place.path() / "rtc_log.0"));
}

TEST_CASE("who_fills_the_queue_is_held_up_until_there_is_room_or_it_stops") {
    SystemClock clock;
    EventQueue queue(clock);
    std::atomic<int> posted = 0, done = 0, most = 0;
    const auto fill = [&] {
        queue.post_when_room(EventQueue::most_weight, [&] {
            most = std::max<int>(most, posted - done);
            ++done;
        });
        ++posted;
    };
    std::jthread filler([&] {
        for (int i = 0; i < 100; ++i) fill();
    });
    REQUIRE(eventually([&] {
        queue.run_due();
        return done == 100;
    }));
    CHECK(most <= 2);  // one runs, one waits
    filler.join();
    fill();
    std::jthread last(fill);
    queue.stop();
    last.join();
    CHECK(posted == 102);
}
