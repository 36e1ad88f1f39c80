#pragma once
// The guest's display as elements of a pipeline: source, encoder, payloader.
#include <gst/gst.h>

#include <memory>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/meters.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/frame_pace.h"
#include "instance-agent/streamer/media/video/frame_socket.h"
#include "instance-agent/streamer/media/video/screen_gate.h"

namespace svc::streamer {

// Thread-safe after construction. The pipeline owns the elements and must outlive this object.
class DisplayOut {
  public:
    DisplayOut(const MediaPlaces& places, const EncoderForm& form, const PictureShape& shape,
               std::uint32_t kbps, std::shared_ptr<SendMeter> sent);  // throws unsupported, unavailable

    GstElement* bin() const { return bin_.get(); }  // has a pad `src`; add it to the pipeline
    void begin();                                   // starts sending: the client can receive
    void set_kbps(std::uint32_t kbps);
    void request_key_frame();
    void stop();  // stops the source; call before the pipeline stops
    void add_to(StreamStats& stats) const;

  private:
    void open_socket(const std::string& path, const PictureShape& shape);
    void open_screen(const std::string& display, const PictureShape& shape);
    void wake_at_requests();

    const EncoderForm form_;
    const int fps_;
    Ref<GstElement> bin_, encoder_, gate_;
    std::shared_ptr<EncodeMeter> encoded_ = std::make_shared<EncodeMeter>();
    std::shared_ptr<SendMeter> sent_;
    std::shared_ptr<FramePace> pace_;
    std::shared_ptr<FrameSocket> socket_;  // for guests without X
    std::shared_ptr<ScreenGate> screen_;   // for guests with X
};

}  // namespace svc::streamer
