#pragma once
// The client's camera on its way in: decoded and made RGBA while somebody wants it.
#include <gst/gst.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "instance-agent/streamer/client/peer.h"
#include "instance-agent/streamer/media/gst_handles.h"

namespace svc::streamer {

// Thread-safe.
class CameraIn : public std::enable_shared_from_this<CameraIn> {
  public:
    struct Wish {
        int width = 0, height = 0, fps = 0;
        Peer::FrameSink sink;  // empty: nobody wants it
    };
    // The older sink is not called any more once this has returned.
    void set(Wish wish);
    // For a stream of this codec; null where it cannot be decoded.
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
