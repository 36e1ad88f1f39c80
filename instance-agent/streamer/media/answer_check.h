#pragma once
// Whether a client's answer fits our offer, before the media library is given it. No threads.
#include <string>
#include <vector>

namespace svc::streamer {

enum class Section { audio, camera, display, application };

// Sections in the order of the offer. Throws invalid_argument: no session description, another number of
// sections, a display without a codec we offered, no data channels, nothing to identify or reach the client.
void check_answer(const std::string& answer, const std::vector<Section>& offered);

}  // namespace svc::streamer
