#pragma once
// Pad probes that feed the meters, and probes that change what an encoder sees.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <vector>

#include "instance-agent/streamer/media/meters/meters.h"

namespace svc::streamer {

void meter_encoder(GstElement* encoder, const std::shared_ptr<EncodeMeter>& meter);
// Gives the encoder evenly spaced times (even_times.h); its output has the true times.
void hide_rests(GstElement* encoder, int fps);
void request_key_frame(GstElement* encoder);
// Limits requests for key frames: the first three pass at once, then four a second; a limited request waits
// for a later frame. `asked` is called for each request.
void limit_key_frames(GstElement* encoder, std::function<void()> asked);
// Also sets the ssrc of the stream.
void meter_payloader(GstElement* payloader, const std::shared_ptr<SendMeter>& meter);

// The meters of the streams that are sent. Packets with an unknown ssrc are retransmissions of video.
struct SendMeters {
    std::shared_ptr<SendMeter> video, audio;
};
// Counts packets before encryption; `encryption` is a dtlssrtpenc.
void meter_network(GstElement* encryption, const std::shared_ptr<SendMeters>& meters);

}  // namespace svc::streamer
