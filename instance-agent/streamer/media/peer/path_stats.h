#pragma once
// What the library knows of the path to the client.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <optional>

#include "instance-agent/streamer/media/meters/rtcp_meter.h"

namespace svc::streamer {

// `done` is told whether the selected pair has a relay on either side: once, on a thread of the media
// library; not at all when no pair is selected or the element ends before.
void find_relay(GstElement* webrtc, std::function<void(bool relay)> done);

// Lets the meter read the RTCP that comes, and has ours sent often enough to measure round trips.
void meter_feedback(GstElement* webrtc, const std::shared_ptr<RtcpMeter>& meter);

// Of the transport-wide feedback so far; nothing: the client gives none, or all arrives that is sent, so that
// it does not say what the path can do.
struct TransportFeedback {
    double loss = 0, received_kbps = 0;
};
std::optional<TransportFeedback> transport_feedback(GstElement* webrtc);

}  // namespace svc::streamer
