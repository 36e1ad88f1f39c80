#pragma once
// What this machine can encode.
#include <vector>

#include "instance-agent/streamer/peer.h"

namespace svc::streamer {

// The first preferred one there is an encoder for; ours when nothing is preferred. Throws unsupported.
VideoCodec choose_codec(const std::vector<VideoCodec>& preferred);

}  // namespace svc::streamer
