#pragma once
// The guest's sound on its way out, the client's microphone on its way in.
#include <gst/gst.h>

#include <memory>
#include <string>

#include "instance-agent/streamer/media/meters/meters.h"

namespace svc::streamer {

// Bins to be added to a pipeline. Where no server answers at `audio_server` (PulseAudio's socket), silence is
// sent and what comes is dropped.
GstElement* make_sound_out(const std::string& audio_server, const std::shared_ptr<SendMeter>& sent);
GstElement* make_microphone_in(const std::string& audio_server);

}  // namespace svc::streamer
