#include "instance-agent/streamer/media/meters/rtcp_meter.h"

#include <utility>

namespace svc::streamer {
namespace {

constexpr unsigned sender_report = 200, receiver_report = 201, transport_report = 205, payload_feedback = 206;
constexpr unsigned nack_format = 1, pli_format = 1, sli_format = 2, fir_format = 4;
constexpr std::size_t header_size = 4, block_size = 24, fir_entry_size = 8;
constexpr double most_rtt = 60;  // a longer one means that a clock jumped

std::uint32_t number(std::span<const std::uint8_t> bytes, std::size_t at) {
    return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
           std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

std::optional<double> round_trip(std::uint32_t now, std::uint32_t last_report, std::uint32_t delay) {
    if (last_report == 0) return std::nullopt;
    const double seconds = (now - last_report - delay) / 65536.0;
    return seconds < most_rtt ? seconds : 0.0;
}

}  // namespace

void RtcpMeter::heed(Bytes compound, std::uint32_t now) {
    ++packets_;
    while (compound.size() >= 2 * header_size && compound[0] >> 6 == 2) {
        const std::size_t size = (std::size_t{compound[2]} << 8 | compound[3]) * 4 + header_size;
        if (size > compound.size() || size < 2 * header_size) return;
        const Bytes packet = compound.first(size);
        const unsigned type = packet[1], count = packet[0] & 31U;
        if (type == sender_report && size >= 28) heed_blocks(packet.subspan(28), count, now);
        if (type == receiver_report) heed_blocks(packet.subspan(8), count, now);
        if ((type == transport_report || type == payload_feedback) && size >= 12)
            heed_feedback(packet, type, count);
        compound = compound.subspan(size);
    }
}

void RtcpMeter::heed_blocks(Bytes blocks, std::size_t count, std::uint32_t now) {
    streams_.with([&](auto& streams) {
        for (; count > 0 && blocks.size() >= block_size; --count, blocks = blocks.subspan(block_size)) {
            Stream* const stream = stream_of(streams, number(blocks, 0));
            if (stream == nullptr) continue;
            const std::uint32_t highest = number(blocks, 8);
            const auto before = std::exchange(stream->highest, highest);
            stream->report = {blocks[4] / 256.0, round_trip(now, number(blocks, 16), number(blocks, 20)),
                              before ? std::optional(highest - *before) : std::nullopt};
        }
    });
}

// A FIR names its media sources in its entries.
void RtcpMeter::heed_feedback(Bytes packet, unsigned type, unsigned format) {
    const bool fir = type == payload_feedback && format == fir_format;
    if (fir && packet.size() < 12 + fir_entry_size) return;
    streams_.with([&](auto& streams) {
        Stream* const stream = stream_of(streams, number(packet, fir ? 12 : 8));
        if (stream == nullptr) return;
        FeedbackCounts& counts = stream->counts;
        if (type == transport_report && format == nack_format) ++counts.nacks;
        if (type == payload_feedback && format == pli_format) ++counts.plis;
        if (type == payload_feedback && format == sli_format) ++counts.slis;
        if (fir) ++counts.firs;
    });
}

RtcpMeter::Stream* RtcpMeter::stream_of(std::map<std::uint32_t, Stream>& streams, std::uint32_t ssrc) {
    const auto found = streams.find(ssrc);
    if (found != streams.end()) return &found->second;
    return streams.size() < most_streams ? &streams[ssrc] : nullptr;
}

FeedbackCounts RtcpMeter::counts(std::uint32_t ssrc) const {
    return streams_.with([&](const auto& streams) {
        const auto found = streams.find(ssrc);
        return found == streams.end() ? FeedbackCounts() : found->second.counts;
    });
}

bool RtcpMeter::has_heard_of(std::uint32_t ssrc) const {
    return streams_.with([&](const auto& streams) { return streams.contains(ssrc); });
}

std::optional<ReceptionReport> RtcpMeter::take_report(std::uint32_t ssrc) {
    return streams_.with([&](auto& streams) -> std::optional<ReceptionReport> {
        const auto found = streams.find(ssrc);
        return found == streams.end() ? std::nullopt : std::exchange(found->second.report, std::nullopt);
    });
}

}  // namespace svc::streamer
