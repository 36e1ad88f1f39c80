#pragma once
// Statistics of the network path to the client.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <optional>

#include "instance-agent/streamer/media/meters/rtcp_meter.h"

namespace svc::streamer {

// Calls `done` once, on a thread of GStreamer, with whether the selected candidate pair has a relay on either
// side. Does not call it when no pair is selected or the element ends before.
void find_relay(GstElement* webrtc, std::function<void(bool relay)> done);

// Passes incoming RTCP to the meter, and has sender reports sent often enough to measure round trips.
void meter_feedback(GstElement* webrtc, const std::shared_ptr<RtcpMeter>& meter);

// The transport-wide feedback. Nothing: the client sends none, or nothing was lost, so that it does not show
// the capacity of the path.
struct TransportFeedback {
    double loss = 0, received_kbps = 0;
};
std::optional<TransportFeedback> transport_feedback(GstElement* webrtc);

}  // namespace svc::streamer
