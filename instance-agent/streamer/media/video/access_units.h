#pragma once
// Access units of H.264 as a payloader needs them, whatever the encoder makes of them. No GStreamer.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace svc::streamer {

using Bytes = std::vector<std::uint8_t>;

// One stream, one thread. Its units are byte streams (ITU-T H.264, annex B): start codes and NAL units.
class AccessUnits {
  public:
    // The same unit without what says nothing to a receiver of packets (delimiters, ends, filler), with the
    // parameter sets of the stream, once each, before a picture that begins anew, and before any other when
    // some have come since they were sent. Nothing where it has no picture: parameter sets that come alone
    // wait for the next one.
    std::optional<Bytes> tidy(std::span<const std::uint8_t> unit);

  private:
    using Unit = std::span<const std::uint8_t>;
    using Sets = std::map<unsigned, Bytes>;  // the stream's last ones, by id
    void note_parameters(Unit unit);

    Sets sequence_sets_, picture_sets_;
    bool unsent_ = false;  // some of them
};

}  // namespace svc::streamer
