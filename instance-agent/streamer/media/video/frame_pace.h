#pragma once
// Decides which frames to encode: changed frames, repeats of them while the encoder still improves the
// picture, and one now and then to keep the stream alive. No GStreamer.
#include <chrono>
#include <cstddef>
#include <optional>

#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe. The caller gives the time.
class FramePace {
  public:
    explicit FramePace(std::size_t pixels) : spare_bytes_(400 + pixels / 4000) {}  // size of a frame
    using Moment = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;
    static constexpr Duration heartbeat = std::chrono::seconds(1);
    static constexpr Duration sharpening = std::chrono::seconds(2);  // longest time of repeats after a change
    static constexpr Duration asked_for =
        std::chrono::milliseconds(300);  // shortest time of repeats after a request

    void changed(Moment now);  // the picture has changed
    void asked(Moment now);    // a key frame was requested: sends frames
    bool is_wanted(Moment now) const;
    Moment next(Moment now) const;  // when to send the next frame without a change; <= now: at once
    void sent(Moment now);
    void encoded(std::size_t bytes);  // size of an encoded frame
    // The encoder's budget for a frame. A frame above it makes the next ones small, although the picture
    // could still be improved.
    void set_budget(std::size_t bytes);

  private:
    struct State {
        std::optional<Moment> sent;
        bool fresh = true;
        Moment sharpen_until{}, asked_until{};
        int spare_frames = 0;  // consecutive frames that the encoder hardly improved
        std::size_t budget = 1U << 20, debt = 0;
        Moment next(Moment now) const;
    };
    const std::size_t spare_bytes_;  // the size of a frame that repeats the last one
    Guarded<State> state_;
};

}  // namespace svc::streamer
