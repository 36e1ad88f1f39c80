#pragma once
// Converts access units of an H.264 encoder to the form that a payloader needs. No GStreamer.
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
    // The unit without NAL units that an RTP receiver does not need (delimiters, ends, filler). The stream's
    // parameter sets are put before each key frame, and before another picture when they have changed.
    // Nothing for a unit without a picture: its parameter sets are kept for the next one.
    std::optional<Bytes> tidy(std::span<const std::uint8_t> unit);

  private:
    using Unit = std::span<const std::uint8_t>;
    using Sets = std::map<unsigned, Bytes>;  // the stream's latest sets, by id
    void note_parameters(Unit unit);

    Sets sequence_sets_, picture_sets_;
    bool unsent_ = false;  // sets have changed since they were sent
};

}  // namespace svc::streamer
