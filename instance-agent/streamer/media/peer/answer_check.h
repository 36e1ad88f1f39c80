#pragma once
// Checks a client's SDP answer against the offer before GStreamer gets it. No threads.
#include <optional>
#include <string>
#include <vector>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

enum class Section { audio, camera, display, application };

struct Offered {
    std::vector<Section> sections;   // in their order in the offer
    std::vector<VideoCodec> codecs;  // codecs offered for the display
};

// The codec of the display: the first codec of the answer that was offered; nothing without a display
// section. Throws invalid_argument when the text is no session description, has another number of sections, a
// display without an offered codec, no data channels, no fingerprint or no ICE credentials.
std::optional<VideoCodec> check_answer(const std::string& answer, const Offered& offered);

}  // namespace svc::streamer
