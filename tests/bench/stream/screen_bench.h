#pragma once
// The stream of an X server's screen: what it costs while nothing moves and while something does, and how
// late a change is.
#include <chrono>
#include <functional>

#include "tests/bench/stream/measured_peer.h"

namespace svc::streamer {

MediaPair::Wish pair_wish(const BenchOptions& options);

// Has `flip` make the middle of the picture bright or dark, again and again, and tells how long it takes
// until the client has decoded it. Between them `pause`, and a bit more so that it is never in step with the
// encoder.
Json time_flips(MediaPair& pair, const BenchOptions& options, std::chrono::milliseconds pause,
                const std::function<void(bool bright)>& flip);

// Processor time of a streaming process and of the X server: still, with a square that moves, with whole
// pages that change; and of gst-launch that encodes every frame.
Json measure_screen(const BenchOptions& options);
// From the program's drawing to the decoded pixels: with changes in quick succession, and of a screen that
// has been still for two seconds.
Json measure_screen_glass(const BenchOptions& options);

}  // namespace svc::streamer
