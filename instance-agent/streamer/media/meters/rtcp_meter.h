#pragma once
// Reads the receiver's RTCP packets: loss, round-trip time, requests for retransmissions and key frames. No
// GStreamer. Malformed packets are skipped.
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "libsvc/base/guarded.h"

namespace svc::streamer {

struct FeedbackCounts {
    std::uint64_t nacks = 0, plis = 0, firs = 0, slis = 0;  // messages
};
struct ReceptionReport {
    double loss = 0;            // part of the packets since the last report, 0 to 1
    std::optional<double> rtt;  // seconds; nothing before the receiver has seen a sender report
    std::optional<std::uint32_t>
        packets;  // packets expected since the last report; nothing: the first report
};

// Thread-safe. Streams are identified by ssrc.
class RtcpMeter {
  public:
    // `now`: the middle 32 bits of the NTP time at which the compound packet arrived.
    void heed(std::span<const std::uint8_t> compound, std::uint32_t now);
    FeedbackCounts counts(std::uint32_t ssrc) const;
    std::uint64_t packets() const { return packets_; }               // packets received, of any kind
    bool has_heard_of(std::uint32_t ssrc) const;                     // the receiver has reported on it
    std::optional<ReceptionReport> take_report(std::uint32_t ssrc);  // nothing: no report since the last call

  private:
    using Bytes = std::span<const std::uint8_t>;
    void heed_blocks(Bytes blocks, std::size_t count, std::uint32_t now);
    void heed_feedback(Bytes packet, unsigned type, unsigned format);

    struct Stream {
        FeedbackCounts counts;
        std::optional<ReceptionReport> report;
        std::optional<std::uint32_t> highest;  // sequence number with its cycles
    };
    static constexpr std::size_t most_streams = 32;  // a receiver may name any ssrc
    Stream* stream_of(std::map<std::uint32_t, Stream>& streams, std::uint32_t ssrc);
    Guarded<std::map<std::uint32_t, Stream>> streams_;
    std::atomic<std::uint64_t> packets_ = 0;
};

}  // namespace svc::streamer
