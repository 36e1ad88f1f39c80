#include "instance-agent/streamer/media/meters/meters.h"

#include <catch2/catch.hpp>

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
const Moment start{};

TEST_CASE("encoder's frames are counted with the time each took") {
    EncodeMeter meter;
    meter.begun(start);
    meter.done(true, start + 10ms);
    meter.begun(start + 20ms);  // left out by the encoder
    meter.begun(start + 40ms);
    meter.done(false, start + 45ms);
    StreamStats stats;
    meter.add_to(stats);
    CHECK(stats.frames_encoded == 2);
    CHECK(stats.key_frames_encoded == 1);
    CHECK(stats.total_encode_time == Approx(0.015));
}

TEST_CASE("packets are counted when they are sent, with what they waited") {
    SendMeter meter(77);
    meter.payloaded(65535, start);
    meter.payloaded(0, start + 1ms);
    meter.sent(65535, 1000, start + 2ms);
    meter.sent(0, 500, start + 2ms);
    meter.sent(9, 100, start + 9ms);  // nobody saw it begin
    meter.sent_again(1000);
    StreamStats stats;
    meter.add_to(stats);
    CHECK(stats.ssrc == 77);
    CHECK(stats.packets_sent == 4);
    CHECK(stats.bytes_sent == 2600);
    CHECK(stats.retransmitted_packets_sent == 1);
    CHECK(stats.retransmitted_bytes_sent == 1000);
    CHECK(stats.total_packet_send_delay == Approx(0.003));
}

}  // namespace
}  // namespace svc::streamer
