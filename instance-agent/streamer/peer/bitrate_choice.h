#pragma once
// Which bit rates the display of a peer may have.
#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

// Those of the setup. What it leaves open is chosen for the size; the least is never above the most.
BitrateLimits bitrate_limits(const PeerSetup& setup);
// That a stream begins with, before anything is known of the path to the client.
std::uint32_t first_kbps(const PeerSetup& setup);

}  // namespace svc::streamer
