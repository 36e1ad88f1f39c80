#pragma once
// Cuts the bytes of a video writer into frames. Knows no sockets.
#include "instance-agent/agent/devices/camera/frame_buffer.h"

namespace svc::agent {

// Where the writer's next bytes are to be stored.
struct StreamRoom {
    FrameBufferPtr buffer;  // null: the bytes are dropped
    std::uint8_t* data = nullptr;
    std::size_t size = 0;  // at least 1
};

// One thread at a time. A caller may read into a StreamRoom without the lock under which it got the room.
class LiveStream {
  public:
    void begin();  // a writer has connected
    void end();    // the writer is gone, and so is its newest frame

    // Sets the size of frames, also for the bytes before: frames are counted from the beginning of the
    // stream, so that a writer may begin before the guest opens the camera. `shared`: buffers that frames may
    // be stored in (null: private buffers alone); must live until it is replaced here.
    void set_frames(Resolution size, SharedFrames* shared);
    // Whether the frames after the present one are stored in private buffers alone.
    void keep_private(bool on) { private_only_ = on; }

    StreamRoom room();
    void took(StreamRoom room, std::size_t bytes, std::uint64_t version);  // `bytes` were stored in `room`

    const FrameBufferPtr& newest() const { return newest_; }  // the last complete frame; null: none yet

  private:
    FrameBufferPtr take_buffer();
    void forget();

    Resolution size_ = camera_resolutions[0];
    SharedFrames* shared_ = nullptr;
    bool private_only_ = false;
    PrivateFrames private_;
    std::uint64_t position_ = 0;  // bytes of the stream so far
    std::size_t filled_ = 0;      // of `filling_`
    FrameBufferPtr filling_, newest_;
    std::vector<std::uint8_t> waste_;
};

}  // namespace svc::agent
