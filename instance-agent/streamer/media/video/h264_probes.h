#pragma once
// What is between an H.264 encoder and the payloader: at the payloader's way in, for any encoder.
#include <gst/gst.h>

namespace svc::streamer {

// The offer has the one level that every client takes, and the encoder writes it into its stream
// (codec_forms). What clients decode is more, but the encoder would refuse pictures beyond 720p30 if it were
// asked for that level.
void hide_level(GstElement* payloader);

// Has the payloader send each picture with its parameter sets as one access unit (access_units.h). By itself,
// when a key frame was asked for, it puts the sets before the next NAL unit; where that is a delimiter they
// become a picture of their own, which no player can decode.
void tidy_access_units(GstElement* payloader);

}  // namespace svc::streamer
