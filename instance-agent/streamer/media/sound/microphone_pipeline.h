#pragma once
// MicrophoneFeed by a pipeline of its own.
#include <string>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/peer/microphone_feed.h"

namespace svc::streamer {

class MicrophonePipeline final : public MicrophoneFeed {
  public:
    // Throws unsupported, unavailable.
    explicit MicrophonePipeline(const std::string& audio_server);
    ~MicrophonePipeline() override;
    MicrophonePipeline(const MicrophonePipeline&) = delete;
    MicrophonePipeline& operator=(const MicrophonePipeline&) = delete;
    void play(std::string_view packet) override;

  private:
    Ref<GstElement> pipeline_, packets_;
};

}  // namespace svc::streamer
