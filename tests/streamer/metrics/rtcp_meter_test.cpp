#include "instance-agent/streamer/media/meters/rtcp_meter.h"

#include <catch2/catch.hpp>
#include <vector>

namespace svc::streamer {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint32_t ours = 0x01020304, theirs = 0x0a0b0c0d;

void put(Bytes& bytes, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

Bytes packet(unsigned count, unsigned type, const std::vector<std::uint32_t>& words) {
    Bytes bytes;
    put(bytes, 2U << 30 | count << 24 | type << 16 | static_cast<std::uint32_t>(words.size()));
    for (const std::uint32_t word : words) put(bytes, word);
    return bytes;
}

Bytes receiver_report(std::uint32_t loss, std::uint32_t last, std::uint32_t delay,
                      std::uint32_t highest = 1000) {
    return packet(1, 201, {theirs, ours, loss << 24, highest, 5, last, delay});
}

TEST_CASE("report of the receiver gives loss and round trip") {
    RtcpMeter meter;
    meter.heed(receiver_report(64, 0x00100000, 0x00008000), 0x00110000);
    const auto report = meter.take_report(ours);
    REQUIRE(report);
    CHECK(report->loss == 0.25);
    CHECK(report->rtt == 0.5);
    CHECK_FALSE(meter.take_report(ours));
    CHECK_FALSE(meter.take_report(theirs));
}

TEST_CASE("receiver that has seen no report of ours tells no round trip") {
    RtcpMeter meter;
    meter.heed(receiver_report(0, 0, 0), 77);
    CHECK_FALSE(meter.take_report(ours)->rtt);
}

TEST_CASE("report tells of how many packets it is, from the second one on") {
    RtcpMeter meter;
    meter.heed(receiver_report(0, 0, 0, 0xfffffff0), 1);
    CHECK_FALSE(meter.take_report(ours)->packets);
    meter.heed(receiver_report(0, 0, 0, 5), 2);
    CHECK(meter.take_report(ours)->packets == 21);
}

TEST_CASE("requests of a compound packet are counted each") {
    RtcpMeter meter;
    Bytes compound = receiver_report(0, 0, 0);
    for (const Bytes& part :
         {packet(1, 205, {theirs, ours, 0x00050000}), packet(1, 206, {theirs, ours}),
          packet(2, 206, {theirs, ours, 7}), packet(4, 206, {theirs, 0, ours, 0x01000000})})
        compound.insert(compound.end(), part.begin(), part.end());
    meter.heed(compound, 1);
    const FeedbackCounts counts = meter.counts(ours);
    CHECK(counts.nacks == 1);
    CHECK(counts.plis == 1);
    CHECK(counts.slis == 1);
    CHECK(counts.firs == 1);
    CHECK(meter.take_report(ours));
}

TEST_CASE("malformed packets are left out") {
    RtcpMeter meter;
    const Bytes whole = receiver_report(64, 1, 1);
    for (std::size_t size = 0; size < whole.size(); ++size) meter.heed(std::span(whole).first(size), 1);
    Bytes bytes = whole;
    bytes[0] = 0x1f;
    meter.heed(bytes, 1);
    meter.heed(packet(31, 201, {theirs}), 1);
    meter.heed(packet(31, 200, {theirs, 1, 2, 3, 4, 5}), 1);
    meter.heed(packet(4, 206, {theirs, ours}), 1);
    meter.heed(Bytes(64, 0x80), 1);
    CHECK_FALSE(meter.take_report(ours));
    CHECK(meter.counts(ours).firs == 0);
}

TEST_CASE("receiver that names ever new streams takes no memory") {
    RtcpMeter meter;
    for (std::uint32_t ssrc = 100; ssrc < 300; ++ssrc) meter.heed(packet(1, 206, {theirs, ssrc}), 1);
    CHECK(meter.counts(100).plis == 1);
    CHECK(meter.counts(299).plis == 0);
}

}  // namespace
}  // namespace svc::streamer
