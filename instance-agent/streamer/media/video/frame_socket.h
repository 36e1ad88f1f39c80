#pragma once
// The frames of a guest without X, at the pace that is worth encoding. They come from the guest's display
// (guest_display/), or by a Unix stream socket to which one writer at a time sends raw frames. Each of these
// is a header of 16 bytes - 'SVCF', then width, height and bytes a row as 32-bit little endian - and the rows
// of RGBA pixels. A newer frame replaces one that was not sent.
#include <functional>
#include <memory>
#include <string>

#include "instance-agent/streamer/guest_display/guest_display.h"
#include "instance-agent/streamer/guest_display/raw_frame.h"
#include "instance-agent/streamer/media/video/frame_pace.h"

namespace svc::streamer {

// What a viewer gets before the guest has drawn.
enum class FirstFrame { black, none };

// A viewer of these frames. Thread-safe. The socket is there while it has viewers: the first one makes it, in
// the place of another process's, and the last one removes it.
class FrameSocket {
  public:
    // Gets each frame, at most `fps` a second, and the last frame again when `pace` asks for one. Called on
    // the socket's thread, not after the destructor has returned; must return soon.
    using Sink = std::function<void(std::shared_ptr<const RawFrame>)>;
    struct Shape {
        int width = 0, height = 0, fps = 0;
    };
    // `display`: see FrameServer; may be null. Throws Error.
    FrameSocket(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace,
                FirstFrame first = FirstFrame::black, const std::shared_ptr<GuestDisplay>& display = nullptr);
    ~FrameSocket();
    FrameSocket(const FrameSocket&) = delete;
    FrameSocket& operator=(const FrameSocket&) = delete;

    void show(std::shared_ptr<const RawFrame> frame);  // as if a writer had sent it
    void wake();                                       // call after a change of `pace`

  private:
    class Place;
    std::unique_ptr<Place> place_;
};

}  // namespace svc::streamer
