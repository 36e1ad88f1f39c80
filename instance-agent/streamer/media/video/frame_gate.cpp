#include "instance-agent/streamer/media/video/frame_gate.h"

namespace svc::streamer {

bool FrameGate::let_through(bool key_frame) {
    if (key_frame) waits_ = false;
    return !waits_;
}

void FrameGate::skip(Moment now) {
    waits_ = true;
    wanted_at_ = now + rest;
}

bool FrameGate::wants_key_frame(Moment now) {
    if (!waits_ || (wanted_at_ && now < *wanted_at_)) return false;
    wanted_at_ = now + rest;
    return true;
}

}  // namespace svc::streamer
