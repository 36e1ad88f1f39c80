#pragma once
// The guest's display as elements of a pipeline: source, encoder, payloader.
#include <gst/gst.h>

#include <memory>
#include <optional>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/meters.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/frame_pace.h"
#include "instance-agent/streamer/media/video/screen_source.h"

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
    void wake_at_requests();

    const EncoderForm form_;
    const int fps_;
    Ref<GstElement> bin_, encoder_, gate_;
    std::shared_ptr<EncodeMeter> encoded_ = std::make_shared<EncodeMeter>();
    std::shared_ptr<SendMeter> sent_;
    std::shared_ptr<FramePace> pace_;
    std::optional<ScreenSource> source_;
};

}  // namespace svc::streamer
