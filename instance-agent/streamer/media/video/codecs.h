#pragma once
// The video codecs that this machine can encode, and what encodes them.
#include <optional>
#include <vector>

#include "instance-agent/streamer/media/video/codec_forms.h"

namespace svc::streamer {

// Starts GStreamer; called once, before any peer is made. Throws unsupported: GStreamer cannot be started.
void start_media();

// What can encode the codec, best first: an element that is installed and, for one of a GPU, whose device can
// be opened, takes pictures in system memory and makes what clients decode. Of `gpu` elements of a GPU alone,
// of `gpu_preferred` those before the others, of `software` the others alone. Asks the device each time,
// which takes some milliseconds.
std::vector<EncoderForm> usable_encoders(VideoCodec codec, VideoEncoder wish);
// The first of them.
std::optional<EncoderForm> find_encoder(VideoCodec codec, VideoEncoder wish);
PropertyTest properties_of(const EncoderForm& form);  // keeps an element that it asks

// The codecs that there is an encoder for, best first. Throws unsupported: there is none.
std::vector<VideoCodec> encodable_codecs(VideoEncoder wish);
// Those that RTP can carry, the preferred ones first. Throws unsupported: there is none.
std::vector<VideoCodec> codecs_to_offer(const std::vector<VideoCodec>& preferred, VideoEncoder wish);

}  // namespace svc::streamer
