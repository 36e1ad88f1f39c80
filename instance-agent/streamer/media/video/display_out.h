#pragma once
// The guest's picture on its way out: source, encoder, payloader.
#include <gst/gst.h>

#include <memory>

#include "instance-agent/streamer/media/gst_handles.h"
#include "instance-agent/streamer/media/meters/meters.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/frame_pace.h"
#include "instance-agent/streamer/media/video/frame_socket.h"
#include "instance-agent/streamer/media/video/screen_gate.h"

namespace svc::streamer {

// Thread-safe once made. The pipeline owns the elements; this must not outlive it.
class DisplayOut {
  public:
    DisplayOut(const MediaPlaces& places, VideoCodec codec, const PictureShape& shape, std::uint32_t kbps,
               std::shared_ptr<SendMeter> sent);  // throws unsupported, unavailable

    GstElement* bin() const { return bin_.get(); }  // with a pad `src`; to be added to the pipeline
    void begin();                                   // lets pictures through: somebody can receive them
    void set_kbps(std::uint32_t kbps);
    void request_key_frame();
    void stop();  // no picture comes from the guest any more; before the pipeline is
    void add_to(StreamStats& stats) const;

  private:
    void open_socket(const std::string& path, const PictureShape& shape);
    void open_screen(const std::string& display, const PictureShape& shape);
    void wake_at_requests();

    const VideoCodec codec_;
    const int fps_;
    Ref<GstElement> bin_, encoder_, gate_;
    std::shared_ptr<EncodeMeter> encoded_ = std::make_shared<EncodeMeter>();
    std::shared_ptr<SendMeter> sent_;
    std::shared_ptr<FramePace> pace_;
    std::shared_ptr<FrameSocket> socket_;  // of guests without X
    std::shared_ptr<ScreenGate> screen_;   // of those with it
};

}  // namespace svc::streamer
