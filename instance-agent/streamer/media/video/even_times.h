#pragma once
// Hides rests from an encoder that takes the time since the last frame for the one it may fill: after a
// second without a picture it would spend the bits of a second on the next one. No GStreamer.
#include <cstdint>
#include <deque>
#include <mutex>

namespace svc::streamer {

// Thread-safe. Times in nanoseconds.
class EvenTimes {
  public:
    explicit EvenTimes(std::uint64_t interval) : interval_(interval) {}  // of frames that follow each other
    std::uint64_t enter(std::uint64_t time);                             // what the encoder is told instead
    std::uint64_t interval() const { return interval_; }
    std::uint64_t leave(std::uint64_t told);  // what was meant; frames that the encoder dropped are forgotten

  private:
    struct Pair {
        std::uint64_t time, told;
    };
    const std::uint64_t interval_;
    std::mutex mutex_;
    bool begun_ = false;
    Pair last_{};
    std::deque<Pair> inside_;
};

}  // namespace svc::streamer
