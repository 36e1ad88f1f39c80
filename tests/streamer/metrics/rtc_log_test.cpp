#include "instance-agent/streamer/metrics/rtc_log.h"

#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;

TEST_CASE("the log of a stream is a file while the platform wants it") {
    StreamerPlace place;
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
    // One message at a time: the log has its limit.
    const auto say_something = [&] {
        place.client(R"("type":"candidate","candidate":"YQ==","sdpMLineIndex":0)");
        place.gateway.send(R"({"type":"ctl:ping"})");
        place.gateway.await("ctl:pong");
    };
    wish(true);
    REQUIRE(eventually([&] {
        say_something();
        return log(0).find(R"("event":"received","message":)") != std::string::npos;
    }));
    wish(false);
    REQUIRE(eventually([&] { return log(0).ends_with("\"event\":\"end\"}\n"); }));
    wish(true);
    REQUIRE(eventually([&] {
        say_something();
        return !log(1).empty();
    }));
    place.gateway.send(
        R"({"type":"ctl:client-joined","client_id":"c2","stun_servers":[{"urls":["turn:x"],"password":"geheim"}]})");
    place.gateway.await("ctl:stream");
    CHECK(log(1).find(R"("event":"figures")") != std::string::npos);
    CHECK(log(1).find("geheim") == std::string::npos);
}

TEST_CASE("logs of streams are few and not too long") {
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
