#pragma once
// Counts frames, encoding times and packets. No GStreamer.
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

using Moment = std::chrono::steady_clock::time_point;

// Thread-safe. The encoders in use hold no frame back: the frame that is done is the one that was begun last.
class EncodeMeter {
  public:
    void begun(Moment now);
    void done(bool key_frame, Moment now);
    void add_to(StreamStats& stats) const;

  private:
    struct State {
        std::optional<Moment> begun;
        std::uint64_t frames = 0, key_frames = 0;
        std::chrono::duration<double> time{};
    };
    Guarded<State> state_;
};

// Counts the packets of one stream and their retransmissions. Thread-safe.
class SendMeter {
  public:
    explicit SendMeter(std::uint32_t ssrc) : ssrc_(ssrc) {}
    std::uint32_t ssrc() const { return ssrc_; }
    void payloaded(std::uint16_t sequence, Moment now);
    void sent(std::uint16_t sequence, std::size_t payload, Moment now);
    void sent_again(std::size_t payload);
    void add_to(StreamStats& stats) const;

  private:
    static constexpr std::size_t window = 4096;  // packets between payloader and network
    struct Pending {
        Moment when;
        std::uint16_t sequence = 0;
        bool waits = false;
    };
    struct State {
        std::array<Pending, window> pending;
        std::uint64_t packets = 0, bytes = 0, packets_again = 0, bytes_again = 0;
        std::chrono::duration<double> delay{};
    };
    std::uint32_t ssrc_;
    Guarded<State> state_;
};

}  // namespace svc::streamer
