#pragma once
// Pad probes between an H.264 encoder and its payloader, for any encoder.
#include <gst/gst.h>

namespace svc::streamer {

// The offer names the one level that every client accepts, and the stream carries it (codec_forms). Clients
// decode more; but an encoder that is asked for that level refuses pictures beyond 720p30. So the probe hides
// the level from the encoder.
void hide_level(GstElement* payloader);

// Makes what comes to `element` whole access units, each key frame with its parameter sets (access_units.h).
// Of a payloader that is told of a request for a key frame, it keeps that away: the payloader would put the
// sets before the next NAL unit; before a delimiter they become a picture of their own, which no player can
// decode.
void tidy_access_units(GstElement* element);

}  // namespace svc::streamer
