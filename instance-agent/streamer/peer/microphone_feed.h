#pragma once
// The client's microphone as encoded packets, from a peer that gets them without RTP. media/ implements it.
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace svc::streamer {

// Thread-safe. What the guest cannot take at once is dropped.
class MicrophoneFeed {
  public:
    virtual ~MicrophoneFeed() = default;
    virtual void play(std::string_view packet) = 0;  // Opus; comes from a client, which may be hostile
};

// Into the guest's sound server, nowhere where it does not answer. Throws unsupported, unavailable.
using OpenMicrophone = std::function<std::unique_ptr<MicrophoneFeed>(const std::string& audio_server)>;

}  // namespace svc::streamer
