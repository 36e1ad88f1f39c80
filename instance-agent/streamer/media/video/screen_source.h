#pragma once
// The source of the guest's pictures at the head of a bin: an X display, or the frame socket of guests
// without X. A stream, a screenshot and a recording each have one of their own.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/frame_pace.h"
#include "instance-agent/streamer/media/video/frame_socket.h"
#include "instance-agent/streamer/media/video/screen_gate.h"

namespace svc::streamer {

enum class Pointer { shown, hidden };  // of an X display

// The first element of the bin's description: raw pictures in the size that the screen has, `fps` a second at
// most.
std::string screen_source_description(const MediaPlaces& places, int fps, Pointer pointer);

// Thread-safe after construction. The bin outlives it.
class ScreenSource {
  public:
    // `pace` decides which pictures come. Throws unavailable: no X server.
    ScreenSource(GstElement* bin, const MediaPlaces& places, const PictureShape& shape,
                 std::shared_ptr<FramePace> pace, FirstFrame first = FirstFrame::black);
    // Call it after a change of `pace`, on any thread. It may outlive the source.
    std::function<void()> waker() const;
    void stop();  // nothing blocks the bin afterwards; call before the bin stops

  private:
    std::shared_ptr<FrameSocket> socket_;  // for guests without X
    std::shared_ptr<ScreenGate> screen_;   // for guests with X
};

// Lets `pace` know of what the encoder makes, so that no more pictures are taken than improve the last one.
void pace_by_encoder(GstElement* encoder, const std::shared_ptr<FramePace>& pace);

}  // namespace svc::streamer
