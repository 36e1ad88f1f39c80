#pragma once
// A pipeline from the guest's screen to bytes, beside those of streams.
#include <gst/gst.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/video/screen_source.h"

namespace svc::streamer {

// One thread.
class CapturePipeline {
  public:
    struct Form {
        PictureShape shape;  // of black frames; its fps is the highest rate
        Pointer pointer = Pointer::shown;
        FirstFrame first = FirstFrame::black;
        // What makes bytes of raw pictures, in the syntax of gst-launch. One that is named `encoder` decides
        // when nothing is left to improve.
        std::string elements;
    };
    // Starts it. Throws unavailable, unsupported.
    CapturePipeline(const MediaPlaces& places, const Form& form);
    ~CapturePipeline();
    CapturePipeline(const CapturePipeline&) = delete;
    CapturePipeline& operator=(const CapturePipeline&) = delete;

    // The next bytes; "": all have come; nothing: none came for so long. Throws unavailable where it failed.
    std::optional<std::string> read(std::chrono::milliseconds longest);
    void hurry();   // the picture of now is wanted, changed or not
    void finish();  // no more pictures: what is in it comes, and then the end

  private:
    void check() const;

    std::shared_ptr<FramePace> pace_;
    Ref<GstElement> pipeline_, sink_;
    std::optional<ScreenSource> source_;
};

}  // namespace svc::streamer
