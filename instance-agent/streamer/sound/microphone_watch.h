#pragma once
// Detects whether a program of the guest records the microphone: the monitor of PulseAudio's sink
// `svc_microphone`.
#include <functional>
#include <memory>
#include <string>

namespace svc::streamer {

class MicrophoneWatch {
  public:
    using Told = std::function<void(bool in_use)>;

    // `socket`: PulseAudio's, which may come and go. `told` is called at each change, on a thread of the
    // watch, never after the destructor. Initially no program records.
    MicrophoneWatch(const std::string& socket, Told told);
    ~MicrophoneWatch();
    MicrophoneWatch(const MicrophoneWatch&) = delete;
    MicrophoneWatch& operator=(const MicrophoneWatch&) = delete;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc::streamer
