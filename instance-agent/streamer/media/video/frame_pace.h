#pragma once
// Which frames are worth encoding: those that differ, so many after them as the encoder has something to add
// to, and one now and then that shows the stream is alive. No GStreamer.
#include <chrono>
#include <cstddef>
#include <optional>

#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe. Time is told to it.
class FramePace {
  public:
    explicit FramePace(std::size_t pixels) : spare_bytes_(400 + pixels / 4000) {}  // of each frame
    using Moment = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;
    static constexpr Duration heartbeat = std::chrono::seconds(1);
    static constexpr Duration sharpening = std::chrono::seconds(2);        // after a change, at most
    static constexpr Duration asked_for = std::chrono::milliseconds(300);  // after a request, at least

    void changed(Moment now);  // the picture did
    void asked(Moment now);    // somebody needs one: a key frame goes out with it or one of the next
    bool is_wanted(Moment now) const;
    Moment next(Moment now) const;  // when one is wanted if nothing happens; not after now: one is
    void sent(Moment now);
    void encoded(std::size_t bytes);  // of each frame that came out of the encoder
    // What the encoder may spend on a frame: one that spent more makes the next ones small, though there were
    // something to add.
    void set_budget(std::size_t bytes);

  private:
    struct State {
        std::optional<Moment> sent;
        bool fresh = true;
        Moment sharpen_until{}, asked_until{};
        int spare_frames = 0;  // in a row that the encoder had next to nothing to add to
        std::size_t budget = 1U << 20, debt = 0;
        Moment next(Moment now) const;
    };
    const std::size_t spare_bytes_;  // what a picture takes that is the one before
    Guarded<State> state_;
};

}  // namespace svc::streamer
