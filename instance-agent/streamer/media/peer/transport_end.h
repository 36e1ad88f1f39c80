#pragma once
// The end of a connection as its other side learns it at once: SCTP is aborted, then DTLS is closed.
#include <gst/gst.h>

namespace svc::streamer {

// Of a webrtcbin that is connected. Waits a moment until both have left; what comes later is not sent.
void close_transports(GstElement* webrtc);

}  // namespace svc::streamer
