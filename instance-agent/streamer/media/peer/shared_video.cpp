#include "instance-agent/streamer/media/peer/shared_video.h"

#include <mutex>

#include "instance-agent/streamer/peer/bitrate_choice.h"

namespace svc::streamer {
namespace {

// Passes frames on until it is closed, which waits for a call that runs.
class Outlet final : public FrameTaker {
  public:
    explicit Outlet(VideoListener listener) : listener_(std::move(listener)) {}
    void take(const EncodedFrame& frame) override {
        const auto bytes = std::make_shared<std::string>(gst_buffer_get_size(frame.buffer), '\0');
        gst_buffer_extract(frame.buffer, 0, bytes->data(), bytes->size());
        std::lock_guard lock(mutex_);
        if (listener_.frame)
            listener_.frame(
                {frame.key_frame, static_cast<std::int64_t>(GST_TIME_AS_USECONDS(frame.time)), bytes});
    }
    void encoder_failed(const std::string& reason) override {
        std::lock_guard lock(mutex_);
        if (listener_.failed) listener_.failed(reason);
    }
    void close() {
        std::lock_guard lock(mutex_);
        listener_ = {};
    }

  private:
    std::mutex mutex_;
    VideoListener listener_;
};

class SharedVideo final : public EncodedVideo {
  public:
    SharedVideo(std::shared_ptr<DisplayEncoder> encoder, VideoListener listener)
        : encoder_(std::move(encoder)), outlet_(std::make_shared<Outlet>(std::move(listener))) {
        encoder_->add(outlet_);
        encoder_->begin();
    }
    ~SharedVideo() override { outlet_->close(); }
    SharedVideo(const SharedVideo&) = delete;
    SharedVideo& operator=(const SharedVideo&) = delete;
    void request_key_frame() override { encoder_->request_key_frame(); }
    void set_kbps(std::uint32_t kbps) override { encoder_->set_kbps(kbps); }
    std::uint32_t kbps() const override { return encoder_->kbps(); }
    void add_to(StreamStats& stats) const override { encoder_->add_to(stats); }

  private:
    std::shared_ptr<DisplayEncoder> encoder_;
    std::shared_ptr<Outlet> outlet_;
};

}  // namespace

OpenVideo shared_video(std::shared_ptr<DisplayEncoders> encoders) {
    return [encoders = std::move(encoders)](const PeerSetup& setup, VideoCodec codec,
                                            VideoListener listener) {
        auto encoder = encoders->get(
            {setup.places, {setup.width, setup.height, setup.fps}, codec, setup.encoder, first_kbps(setup)});
        return std::make_unique<SharedVideo>(std::move(encoder), std::move(listener));
    };
}

}  // namespace svc::streamer
