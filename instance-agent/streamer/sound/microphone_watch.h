#pragma once
// Whether a program of the guest listens to the microphone: to the monitor of PulseAudio's sink
// `svc_microphone`.
#include <functional>
#include <memory>
#include <string>

namespace svc::streamer {

class MicrophoneWatch {
  public:
    using Told = std::function<void(bool in_use)>;

    // `socket`: PulseAudio's, which may come and go. `told` is called with each change, on a thread of the
    // watch, and never after the destructor; at first nobody listens.
    MicrophoneWatch(const std::string& socket, Told told);
    ~MicrophoneWatch();
    MicrophoneWatch(const MicrophoneWatch&) = delete;
    MicrophoneWatch& operator=(const MicrophoneWatch&) = delete;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc::streamer
