#pragma once
// The guest's display, encoded once for all clients that agreed on its codec: a pipeline of its own that
// hands each encoded frame to whoever takes it.
#include <gst/gst.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "instance-agent/streamer/media/gstreamer/encoder_output.h"
#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/meters.h"
#include "instance-agent/streamer/media/video/av1_changes.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/frame_pace.h"
#include "instance-agent/streamer/media/video/screen_source.h"

namespace svc::streamer {

struct EncodedFrame {
    GstBuffer* buffer =
        nullptr;  // an H.264 access unit in byte-stream form with its parameter sets, or a frame
    const GstCaps* caps = nullptr;
    GstClockTime time = 0;  // of the system clock that all pipelines share
    bool key_frame = false;
};

// Who gets the frames. Called on the encoder's thread; must not block, and must not own the encoder.
class FrameTaker {
  public:
    virtual ~FrameTaker() = default;
    virtual void take(const EncodedFrame& frame) = 0;
    virtual void encoder_failed(const std::string& reason) = 0;
};

// Thread-safe. Must not be destroyed on a thread of its pipeline.
class DisplayEncoder {
  public:
    // Encodes nothing yet. Throws unsupported, unavailable.
    DisplayEncoder(const MediaPlaces& places, const EncoderForm& form, const PictureShape& shape,
                   std::uint32_t kbps);
    ~DisplayEncoder();
    DisplayEncoder(const DisplayEncoder&) = delete;
    DisplayEncoder& operator=(const DisplayEncoder&) = delete;

    const EncoderForm& form() const { return form_; }
    void add(const std::shared_ptr<FrameTaker>& taker);  // until it is destroyed
    void begin();  // somebody can receive: encodes from now on, a key frame first
    void set_kbps(std::uint32_t kbps);
    std::uint32_t kbps() const { return kbps_; }
    void request_key_frame() const { requester()(); }
    std::function<void()> requester() const;  // asks for a key frame; may outlive the encoder
    void add_to(StreamStats& stats) const;

  private:
    void listen_to_encoder();
    void wake_at_requests();

    const EncoderForm form_;
    const int fps_;
    std::atomic<std::uint32_t> kbps_;
    Ref<GstElement> pipeline_, gate_;
    std::shared_ptr<GstElement> encoder_;
    std::shared_ptr<Av1Changes> av1_changes_;  // null: another codec
    // Lives as long as a thread of the pipeline may use it.
    std::shared_ptr<Takers<FrameTaker>> takers_ = std::make_shared<Takers<FrameTaker>>();
    std::shared_ptr<EncodeMeter> encoded_ = std::make_shared<EncodeMeter>();
    std::shared_ptr<FramePace> pace_;
    std::optional<ScreenSource> source_;
};

}  // namespace svc::streamer
