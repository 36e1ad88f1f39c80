#pragma once
// Hides pauses between frames from an encoder. An encoder's rate control counts the time since the last
// frame: after a second without a frame it would spend the bits of a second on the next one. No GStreamer.
#include <cstdint>
#include <deque>
#include <mutex>

namespace svc::streamer {

// Thread-safe. Times in nanoseconds.
class EvenTimes {
  public:
    explicit EvenTimes(std::uint64_t interval) : interval_(interval) {}  // `interval`: between frames
    std::uint64_t enter(std::uint64_t time);  // returns the time to tell the encoder
    std::uint64_t interval() const { return interval_; }
    std::uint64_t leave(
        std::uint64_t told);  // returns the true time; forgets frames that the encoder dropped

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
