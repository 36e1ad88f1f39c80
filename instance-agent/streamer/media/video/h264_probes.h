#pragma once
// Pad probes between an H.264 encoder and its payloader, for any encoder.
#include <gst/gst.h>

namespace svc::streamer {

// The offer names the one level that every client accepts, and the stream carries it (codec_forms). Clients
// decode more; but an encoder that is asked for that level refuses pictures beyond 720p30. So the probe hides
// the level from the encoder.
void hide_level(GstElement* payloader);

// Makes the payloader send each picture with its parameter sets as one access unit (access_units.h). On a
// request for a key frame the payloader itself puts the sets before the next NAL unit; before a delimiter
// they become a picture of their own, which no player can decode.
void tidy_access_units(GstElement* payloader);

}  // namespace svc::streamer
