#pragma once
// EncodedSound by one encoder for all who listen at the same time.
#include "instance-agent/streamer/peer/encoded_sound.h"

namespace svc::streamer {

OpenSound shared_sound();

}  // namespace svc::streamer
