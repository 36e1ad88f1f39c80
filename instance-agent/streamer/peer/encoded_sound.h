#pragma once
// The guest's sound as encoded packets, for a peer that brings them to the client by itself. media/
// implements it.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace svc::streamer {

struct SoundPacket {
    std::int64_t time = 0;                     // microseconds, since the moment that VideoFrame's count from
    std::shared_ptr<const std::string> bytes;  // Opus, 48 kHz, stereo, 20 ms
};

// Called on a thread of the encoder; must not block.
using SoundListener = std::function<void(const SoundPacket&)>;

// Thread-safe. No packet comes after its destructor, which must not run on the encoder's thread.
class EncodedSound {
  public:
    virtual ~EncodedSound() = default;
    virtual double bits_per_second() const = 0;  // what the encoder is set to
};

// The sound of PulseAudio's socket, silence where no server answers. Throws unsupported, unavailable.
using OpenSound =
    std::function<std::unique_ptr<EncodedSound>(const std::string& audio_server, SoundListener listener)>;

}  // namespace svc::streamer
