#include "instance-agent/streamer/media/meters/congestion.h"

#include <catch2/catch.hpp>

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

// Tells a report each half second.
struct Path {
    Congestion congestion{{1000, 5000}};
    Congestion::Moment now{};
    void tell(int times, double loss, double rtt, std::optional<double> received = std::nullopt) {
        for (; times > 0; --times, now += 500ms)
            congestion.heed({loss, std::chrono::duration<double>(rtt), received}, now);
    }
};

TEST_CASE("bitrate begins between its limits and grows on a good path up to the most") {
    Path path;
    CHECK(path.congestion.target_kbps() == 3000);
    path.tell(4, 0, 0.02);
    CHECK(path.congestion.target_kbps() > 3200);
    path.tell(60, 0.01, 0.02);
    CHECK(path.congestion.target_kbps() == 5000);
}

TEST_CASE("bitrate falls by what is lost, down to the least") {
    Path path;
    path.tell(1, 0.2, 0.02);
    CHECK(path.congestion.target_kbps() == 2700);
    path.tell(40, 0.3, 0.02);
    CHECK(path.congestion.target_kbps() == 1000);
}

TEST_CASE("a little loss neither raises nor lowers the bitrate") {
    Path path;
    path.tell(20, 0.05, 0.02);
    CHECK(path.congestion.target_kbps() == 3000);
}

TEST_CASE("growing round trips lower the bitrate before anything is lost") {
    Path path;
    path.tell(4, 0, 0.03);
    const auto before = path.congestion.target_kbps();
    path.tell(1, 0, 0.15);
    CHECK(path.congestion.target_kbps() < before);
}

TEST_CASE("one of the few packets of a still screen that is lost says nothing, nor do those that arrive") {
    Path path;
    for (const double loss : {0.5, 1.0, 0.0, 0.0}) path.congestion.heed({loss, {}, {}, 2}, path.now += 500ms);
    CHECK(path.congestion.target_kbps() == 3000);
    path.congestion.heed({0.5, {}, {}, 100}, path.now += 500ms);
    CHECK(path.congestion.target_kbps() < 3000);
}

TEST_CASE("long round trips that do not grow are no congestion") {
    Path path;
    path.tell(20, 0, 0.4);
    CHECK(path.congestion.target_kbps() > 3000);
}

TEST_CASE("after a fall the bitrate holds for a while and returns with care") {
    Path path;
    path.tell(1, 0.1, 0.02);
    const auto fallen = path.congestion.target_kbps();
    path.tell(2, 0, 0.02);
    CHECK(path.congestion.target_kbps() == fallen);
    path.tell(6, 0, 0.02);
    const auto careful = path.congestion.target_kbps();
    CHECK(careful > fallen);
    CHECK(careful - fallen < 200);
    path.tell(120, 0, 0.02);
    CHECK(path.congestion.target_kbps() == 5000);
}

TEST_CASE("bitrate falls to what arrives when that is less") {
    Path path;
    path.tell(1, 0.1, 0.02, 2000.0);
    CHECK(path.congestion.target_kbps() == 1900);
}

TEST_CASE("reports in quick succession make one step") {
    Congestion congestion({1000, 5000});
    const Congestion::Moment now{};
    CHECK(congestion.heed({0.2, std::nullopt, std::nullopt}, now));
    CHECK_FALSE(congestion.heed({0.2, std::nullopt, std::nullopt}, now + 100ms));
    CHECK(congestion.heed({0.2, std::nullopt, std::nullopt}, now + 300ms));
}

TEST_CASE("new limits hold at once") {
    Path path;
    path.congestion.set_limits({500, 800});
    CHECK(path.congestion.target_kbps() == 800);
    path.congestion.set_limits({2000, 3000});
    CHECK(path.congestion.target_kbps() == 2000);
}

}  // namespace
}  // namespace svc::streamer
