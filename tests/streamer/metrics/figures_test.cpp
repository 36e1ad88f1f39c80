// The streamer's start data, and the metrics that it sends.
#include <poll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "instance-agent/streamer/start_data.h"
#include "libsvc/base/error.h"
#include "libsvc/formats/line_protocol.h"
#include "libsvc/net/socket/bind.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::streamer;

namespace {

const std::string streaming =
    R"("streaming":{"session_id":"s1","control_url":"ws://h:1/x?token=t","metrics_labels":{"region":"r","app":"a"}})";

PeerStats some_stats() {
    PeerStats stats;
    StreamStats video;
    video.kind = "video";
    video.ssrc = 7;
    video.frames_encoded = 900;
    video.total_encode_time = 4.25;
    video.target_bitrate = 3e6;
    StreamStats audio;
    audio.kind = "audio";
    audio.ssrc = 8;
    audio.packets_sent = 5;
    stats.streams = {video, audio};
    stats.relay_in_use = true;
    return stats;
}

std::optional<Options> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "svc-streamer");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parse_options(static_cast<int>(words.size()), argv.data());
}

double field(const LineSample& sample, const std::string& name) {
    for (const auto& [key, value] : sample.fields)
        if (key == name) return value;
    return -1;
}

}  // namespace

TEST_CASE("user data without streaming means that nobody streams") {
    for (const char* text :
         {"", "hello", "[]", "{}", R"({"streaming":null})", R"({"extra_data":{"streaming":{}}})"})
        CHECK_FALSE(read_user_data("webrtc", text));
    for (const char* text :
         {R"({"streaming":{}})", R"({"streaming":7})", R"({"streaming":{"session_id":"s"}})",
          R"({"streaming":{"session_id":"s","control_url":"http://h/"}})"})
        CHECK_THROWS_AS(read_user_data("webrtc", text), Error);
}

TEST_CASE("the platform decides whether the instance streams") {
    const std::string text = "{" + streaming + "}";
    CHECK(read_user_data("webrtc", text)->density == 240);
    CHECK(read_user_data("swrast", text)->density == 160);
    CHECK_FALSE(read_user_data("null", text));
    CHECK_FALSE(read_user_data("", text));
}

TEST_CASE("user data tells how to know the gateway") {
    const auto target = [](const std::string& more) {
        return read_user_data(
                   "webrtc",
                   R"({"streaming":{"session_id":"s","control_url":"wss://h/x","fingerprint":"aa")" + more +
                       "}}")
            ->gateway.target;
    };
    CHECK(target("").server_fingerprint == "aa");
    CHECK(target("").tls_name() == "h");
    const Target named = target(R"(,"server_name":"i.internal","server_fingerprint":"bb")");
    CHECK(named.server_fingerprint == "bb");
    CHECK(named.tls_name() == "i.internal");
    CHECK(named.host == "h");
    CHECK_THROWS_AS(target(R"(,"server_name":"i.internal")"), Error);
}

TEST_CASE("user data tells session gateway and screen") {
    const auto start = read_user_data(
        "webrtc", R"({"display_width":800,"display_height":600,"fps":1000,)" + streaming + "}");
    REQUIRE(start);
    CHECK(start->session_id == "s1");
    CHECK(start->gateway.path == "/x?token=t");
    CHECK(start->app == "a");
    CHECK(start->region == "r");
    CHECK(start->width == 800);
    CHECK(start->density == 240);
    CHECK(start->fps == 120);  // as often as can be
    CHECK(read_user_data("webrtc", R"({"fps":0,)" + streaming + "}")->fps == 60);
}

TEST_CASE("the command line is checked") {
    const auto options = parse({"--display", "none", "--input", "uinput", "--api-socket", "/a"});
    CHECK(parse({"--input", "guest", "--display", "none"})->input == InputKind::guest);
    CHECK(parse({"--display-socket", "/d"})->display_socket == "/d");
    REQUIRE(options);
    CHECK(options->display.empty());
    CHECK(options->input == InputKind::uinput);
    CHECK(options->api_socket == "/a");
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"--what"}, {"--input", "mind"}, {"--input", "guest"}, {"word"}, {"--display"}})
        CHECK_THROWS_AS(parse(words), Error);
}

TEST_CASE("each stream becomes a line that the collector reads") {
    const auto lines = metric_lines({"i1", "my app", "", "s1"}, some_stats(), Time(Duration(42)));
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].starts_with(
        "webrtc,instance=i1,app=my\\ app,session=s1,kind=video,ssrc=7 frames_encoded=900i,"));
    const LineSample video = parse_line(lines[0]), audio = parse_line(lines[1]),
                     connection = parse_line(lines[2]);
    CHECK(video.time == 42);
    CHECK(field(video, "total_encode_time") == 4.25);
    CHECK(field(video, "target_bitrate") == 3e6);
    CHECK(video.fields.size() == 14);
    CHECK(field(audio, "packets_sent") == 5);
    CHECK(field(audio, "frames_encoded") == -1);
    CHECK(field(connection, "relay_in_use") == 1);
    CHECK(connection.tags.size() == 3);
}

TEST_CASE("datagrams have whole lines and a limit") {
    CHECK(batches({}, 10).empty());
    CHECK(batches({"aaaa", "bbbb", "cccc"}, 10) == std::vector<std::string>{"aaaa\nbbbb\n", "cccc\n"});
    CHECK(batches({"longer than that", "b"}, 10) == std::vector<std::string>{"longer than that\n", "b\n"});
}

TEST_CASE("figures go out as datagrams") {
    const FileDescriptor socket = net::bind_udp("127.0.0.1:0");
    MetricsServer server{"127.0.0.1", 0, true};
    const std::string address = net::local_address(socket.get());
    server.port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    { MetricsSender(server).send({"a x=1i 1", "b x=1i 1"}); }
    char text[2000];
    pollfd arrival{socket.get(), POLLIN, 0};
    REQUIRE(poll(&arrival, 1, 60'000) == 1);
    const ssize_t size = recv(socket.get(), text, sizeof(text), MSG_DONTWAIT);
    REQUIRE(size > 0);
    CHECK(std::string(text, static_cast<std::size_t>(size)) == "a x=1i 1\nb x=1i 1\n");
}

TEST_CASE("figures go out by http") {
    test::TestServer collector;
    std::string body, query;
    collector.with_tcp = true;
    collector.service.add("/write", [&](Request& request) {
        body = request.body;
        query = request.query_value("db") + " " + request.query_value("precision");
        Response response;
        response.status = 204;
        return response;
    });
    collector.start();
    const Target target = collector.tcp_target();
    { MetricsSender(MetricsServer{target.host, target.port, false}).send({"a x=1i 1"}); }
    collector.service.wait_for_done();
    CHECK(body == "a x=1i 1\n");
    CHECK(query == "streaming ns");
}
