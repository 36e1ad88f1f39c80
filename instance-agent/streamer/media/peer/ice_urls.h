#pragma once
// Addresses of STUN and TURN servers in the form GStreamer wants. Pure.
#include <string>
#include <vector>

#include "instance-agent/streamer/client/peer.h"

namespace svc::streamer {

struct IceUrls {
    std::string stun;               // "stun://host:port", the first one named; "": none
    std::vector<std::string> turn;  // "turn(s)://user:password@host:port?transport=udp"
};

// What is neither stun: nor turn: nor turns: is left out, a TURN server without credentials too.
IceUrls ice_urls(const std::vector<IceServer>& servers);

}  // namespace svc::streamer
