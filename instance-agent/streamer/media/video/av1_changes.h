#pragma once
// Changes of an av1enc that encodes. That of GStreamer 1.22 has no lock between its properties and a frame
// that it encodes, and ignores requests for key frames. So both are applied on its own thread, before the
// next frame. A key frame is had by a distance of 0 between key frames until there is one; libaom still makes
// the frame after it a key frame.
#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace svc::streamer {

// Thread-safe.
class Av1Changes {
  public:
    void set_kbps(std::uint32_t kbps) { kbps_ = kbps; }  // from the next frame on
    void request_key_frame() { key_wanted_ = true; }     // the next frame

    // On the thread of the encoder, before and after a frame.
    void apply(GstElement* encoder);
    void key_frame_done(GstElement* encoder);

  private:
    std::atomic<std::uint32_t> kbps_ = 0;  // 0: as it is
    std::atomic<bool> key_wanted_ = false;
    bool begun_ = false;  // the first frame is a key frame anyhow
    int distance_ = 0;    // between key frames; 0: no key frame is being made
};

// Requests that come to the encoder's source pad are served as well; call it after limit_key_frames().
std::shared_ptr<Av1Changes> change_av1_between_frames(GstElement* encoder);

}  // namespace svc::streamer
