#pragma once
// Ends a connection so that the other side learns it at once: aborts SCTP, then closes DTLS.
#include <gst/gst.h>

namespace svc::streamer {

// `webrtc` is a connected webrtcbin. Waits a moment until both packets have left; nothing can be sent
// afterwards.
void close_transports(GstElement* webrtc);

}  // namespace svc::streamer
