#pragma once
// Whether a client's answer fits our offer, before the media library is given it. No threads.
#include <optional>
#include <string>
#include <vector>

#include "instance-agent/streamer/client/peer.h"

namespace svc::streamer {

enum class Section { audio, camera, display, application };

struct Offered {
    std::vector<Section> sections;   // in their order
    std::vector<VideoCodec> codecs;  // of the display
};

// The codec the client wants the display in: the first of its answer that was offered; none without a
// display. Throws invalid_argument: no session description, another number of sections, a display without a
// codec we offered, no data channels, nothing to identify or reach the client.
std::optional<VideoCodec> check_answer(const std::string& answer, const Offered& offered);

}  // namespace svc::streamer
