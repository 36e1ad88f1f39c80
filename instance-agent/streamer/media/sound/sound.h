#pragma once
// Elements for the guest's sound to the client and the client's microphone to the guest.
#include <gst/gst.h>

#include <memory>
#include <string>

#include "instance-agent/streamer/media/meters/meters.h"

namespace svc::streamer {

// `audio_server` where a sound server answers, else "".
std::string answering_server(const std::string& audio_server);
// A bin: the sound of `server` ("": silence) as Opus, into the elements of `end`.
GstElement* make_opus_sound(const std::string& server, const std::string& end);

// A bin: Opus that comes out of the elements of `begin`, into the guest's microphone.
GstElement* make_opus_microphone(const std::string& audio_server, const std::string& begin);

// Bins for a pipeline. When no server answers at `audio_server` (PulseAudio's socket), they send silence and
// drop the microphone.
GstElement* make_sound_out(const std::string& audio_server, const std::shared_ptr<SendMeter>& sent);
GstElement* make_microphone_in(const std::string& audio_server);

}  // namespace svc::streamer
