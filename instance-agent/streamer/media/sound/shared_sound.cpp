#include "instance-agent/streamer/media/sound/shared_sound.h"

#include <map>
#include <mutex>

#include "instance-agent/streamer/media/sound/sound.h"
#include "instance-agent/streamer/media/sound/sound_encoder.h"
#include "instance-agent/streamer/media/video/codec_forms.h"

namespace svc::streamer {
namespace {

// Passes packets on until it is closed, which waits for a call that runs.
class SoundOutlet final : public SoundTaker {
  public:
    explicit SoundOutlet(SoundListener listener) : listener_(std::move(listener)) {}
    void take(const SoundPacket& packet) override {
        std::lock_guard lock(mutex_);
        if (listener_) listener_(packet);
    }
    void close() {
        std::lock_guard lock(mutex_);
        listener_ = {};
    }

  private:
    std::mutex mutex_;
    SoundListener listener_;
};

class SharedSound final : public EncodedSound {
  public:
    SharedSound(std::shared_ptr<SoundEncoder> encoder, SoundListener listener)
        : encoder_(std::move(encoder)), outlet_(std::make_shared<SoundOutlet>(std::move(listener))) {
        encoder_->add(outlet_);
    }
    ~SharedSound() override { outlet_->close(); }
    double bits_per_second() const override { return audio_bits_per_second; }
    SharedSound(const SharedSound&) = delete;
    SharedSound& operator=(const SharedSound&) = delete;

  private:
    std::shared_ptr<SoundEncoder> encoder_;
    std::shared_ptr<SoundOutlet> outlet_;
};

// By the server, which the guest may start later: until then there is silence.
class SoundEncoders {
  public:
    std::shared_ptr<SoundEncoder> get(const std::string& server) {
        std::lock_guard lock(mutex_);
        auto encoder = encoders_[server].lock();
        if (encoder && !encoder->has_failed()) return encoder;
        encoders_[server] = encoder = std::make_shared<SoundEncoder>(server);
        return encoder;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<SoundEncoder>> encoders_;
};

}  // namespace

OpenSound shared_sound() {
    return [encoders = std::make_shared<SoundEncoders>()](const std::string& audio_server,
                                                          SoundListener listener) {
        return std::make_unique<SharedSound>(encoders->get(answering_server(audio_server)),
                                             std::move(listener));
    };
}

}  // namespace svc::streamer
