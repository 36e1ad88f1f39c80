#pragma once
// The video codecs that this machine can encode.
#include <vector>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

// Starts GStreamer; called once, before any peer is made. Returns the codecs that there is an encoder for,
// best first. Throws unsupported: GStreamer cannot be started.
std::vector<VideoCodec> start_media();

// The codecs that there is an encoder for, the preferred ones first. Throws unsupported: there is none.
std::vector<VideoCodec> codecs_to_offer(const std::vector<VideoCodec>& preferred);

}  // namespace svc::streamer
