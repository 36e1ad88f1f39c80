#pragma once
// EncodedVideo by the encoders that other peers use, too.
#include "instance-agent/streamer/media/video/display_encoders.h"
#include "instance-agent/streamer/peer/encoded_video.h"

namespace svc::streamer {

OpenVideo shared_video(std::shared_ptr<DisplayEncoders> encoders);

}  // namespace svc::streamer
