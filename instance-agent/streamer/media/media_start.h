#pragma once
// What this machine can encode.
#include <vector>

#include "instance-agent/streamer/client/peer.h"

namespace svc::streamer {

// All there is an encoder for, the preferred ones first. Throws unsupported: there is none.
std::vector<VideoCodec> codecs_to_offer(const std::vector<VideoCodec>& preferred);

}  // namespace svc::streamer
