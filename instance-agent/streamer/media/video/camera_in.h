#pragma once
// Decodes the client's camera to RGBA frames while a sink is set.
#include <gst/gst.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

// Thread-safe.
class CameraIn : public std::enable_shared_from_this<CameraIn> {
  public:
    struct Wish {
        int width = 0, height = 0, fps = 0;
        Peer::FrameSink sink;  // empty: no frames
    };
    // After this call the older sink is not called any more.
    void set(Wish wish);
    // A bin for a stream of this codec; null when it cannot be decoded.
    GstElement* make_bin_for(const std::string& encoding_name);

  private:
    void apply();
    static GstFlowReturn frame_came(GstElement* sink, gpointer data);
    void deliver(GstSample* sample);
    bool is_due();

    std::mutex mutex_;
    Wish wish_;
    std::shared_ptr<GstElement> gate_, caps_;
    std::chrono::steady_clock::time_point delivered_{};
};

}  // namespace svc::streamer
