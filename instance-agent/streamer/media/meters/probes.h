#pragma once
// Fastens the meters to the pads of a pipeline.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <vector>

#include "instance-agent/streamer/media/meters/meters.h"

namespace svc::streamer {

void meter_encoder(GstElement* encoder, const std::shared_ptr<EncodeMeter>& meter);
// Has it see frames that come evenly (even_times.h); what comes out has the true times.
void hide_rests(GstElement* encoder, int fps);
void request_key_frame(GstElement* encoder);
// Of many requests in quick succession the first three are heard, then four a second; a later frame brings
// what the others asked for. `asked` is called for each.
void limit_key_frames(GstElement* encoder, std::function<void()> asked);
// Gives the stream its ssrc too.
void meter_payloader(GstElement* payloader, const std::shared_ptr<SendMeter>& meter);

// Every sent stream's; the ones with an unknown ssrc are retransmissions, which only video has.
struct SendMeters {
    std::shared_ptr<SendMeter> video, audio;
};
// Of each packet on its way from the sessions into encryption and network; `encryption` is a dtlssrtpenc.
void meter_network(GstElement* encryption, const std::shared_ptr<SendMeters>& meters);

}  // namespace svc::streamer
