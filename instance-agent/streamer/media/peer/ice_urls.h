#pragma once
// URLs of STUN and TURN servers in GStreamer's form. Pure functions.
#include <string>
#include <vector>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

struct IceUrls {
    std::string stun;               // "stun://host:port", the first one of the list; "": none
    std::vector<std::string> turn;  // "turn(s)://user:password@host:port?transport=udp"
};

// Skips URLs of other schemes, and TURN servers without credentials.
IceUrls ice_urls(const std::vector<IceServer>& servers);

}  // namespace svc::streamer
