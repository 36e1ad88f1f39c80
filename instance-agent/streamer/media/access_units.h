#pragma once
// Access units of H.264 as a payloader needs them, whatever the encoder makes of them. No GStreamer.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace svc::streamer {

using Bytes = std::vector<std::uint8_t>;

// One stream, one thread. Its units are byte streams (ITU-T H.264, annex B): start codes and NAL units.
class AccessUnits {
  public:
    // The same unit without what says nothing to a receiver of packets (delimiters, ends, filler), with the
    // parameter sets of the stream before a picture that begins anew, once each. Nothing where it has no
    // picture: parameter sets that come alone wait for the next one that begins anew.
    std::optional<Bytes> tidy(std::span<const std::uint8_t> unit);

  private:
    using Unit = std::span<const std::uint8_t>;
    void note_parameters(const std::vector<Unit>& units);

    std::vector<Bytes> sequence_sets_, picture_sets_;  // the stream's last ones
};

}  // namespace svc::streamer
