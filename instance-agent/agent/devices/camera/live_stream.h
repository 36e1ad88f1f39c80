#pragma once
// Cuts what a writer sends into frames. Knows no sockets.
#include "instance-agent/agent/devices/camera/frame_buffer.h"

namespace svc::agent {

// Where the writer's next bytes belong.
struct StreamRoom {
    FrameBufferPtr buffer;  // null: they are of no use
    std::uint8_t* data = nullptr;
    std::size_t size = 0;  // at least 1
};

// One thread at a time. Bytes that wait for their room to be taken may come outside of any lock.
class LiveStream {
  public:
    void begin();  // a writer has come
    void end();    // it is gone: what it showed is over

    // The size of frames from now on. They are counted from the beginning of the stream: what has come
    // already is taken for frames of this size too, so that a writer may begin before the guest opens the
    // camera. `shared`: where frames may come to lie (null: nowhere), outlives its use here.
    void set_frames(Resolution size, SharedFrames* shared);
    // Frames come to lie in private memory from now on, from the next one; or not.
    void keep_private(bool on) { private_only_ = on; }

    StreamRoom room();
    void took(StreamRoom room, std::size_t bytes, std::uint64_t version);  // true end of that room

    const FrameBufferPtr& newest() const { return newest_; }  // complete; null: none yet

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
