#pragma once
// The guest's sound, encoded once for all clients that it reaches without RTP: a pipeline of its own that
// hands each packet to whoever takes it.
#include <gst/gst.h>

#include <atomic>
#include <memory>
#include <string>

#include "instance-agent/streamer/media/gstreamer/encoder_output.h"
#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/peer/encoded_sound.h"

namespace svc::streamer {

// Who gets the packets. Called on the encoder's thread; must not block, and must not own the encoder.
class SoundTaker {
  public:
    virtual ~SoundTaker() = default;
    virtual void take(const SoundPacket& packet) = 0;
};

// Thread-safe. Must not be destroyed on a thread of its pipeline.
class SoundEncoder {
  public:
    // `server`: PulseAudio's socket; "": silence. Throws unsupported, unavailable.
    explicit SoundEncoder(const std::string& server);
    ~SoundEncoder();
    SoundEncoder(const SoundEncoder&) = delete;
    SoundEncoder& operator=(const SoundEncoder&) = delete;

    void add(const std::shared_ptr<SoundTaker>& taker);  // until it is destroyed
    bool has_failed() const { return audience_->failed; }

  private:
    // Lives as long as a thread of the pipeline may use it.
    struct Audience {
        Takers<SoundTaker> takers;
        std::atomic<bool> failed{false};
    };

    Ref<GstElement> pipeline_;
    std::shared_ptr<Audience> audience_ = std::make_shared<Audience>();
};

}  // namespace svc::streamer
