#pragma once
// Which encoded frames go to one of several clients of an encoder: all of them, or, when it has fallen
// behind, none until the next key frame. No GStreamer.
#include <chrono>
#include <optional>

namespace svc::streamer {

// One thread at a time. The caller gives the time.
class FrameGate {
  public:
    using Moment = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds rest{2};  // of a client that was behind, until it wants a key frame

    bool let_through(bool key_frame);
    // The client is behind: nothing goes to it until a key frame, which it wants after a rest.
    void skip(Moment now);
    // Whether the client, which gets nothing, wants a key frame: true at once for a new one, then once a
    // rest.
    bool wants_key_frame(Moment now);

  private:
    bool waits_ = true;                // a client begins with a key frame
    std::optional<Moment> wanted_at_;  // nothing: at once
};

}  // namespace svc::streamer
