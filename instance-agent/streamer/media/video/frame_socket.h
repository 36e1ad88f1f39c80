#pragma once
// The frame socket for guests without X: a Unix stream socket to which one writer at a time sends raw frames.
// Each is a header of 16 bytes - 'SVCF', then width, height and bytes a row as 32-bit little endian - and the
// rows of RGBA pixels. A newer frame replaces one that was not sent.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "instance-agent/streamer/media/video/frame_pace.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

constexpr std::uint32_t most_frame_side = 4096;

struct RawFrame {
    std::uint32_t width = 0, height = 0, stride = 0;
    std::unique_ptr<std::uint8_t[]> pixels;  // stride * height bytes
};

// Thread-safe. The constructor makes the socket and replaces an older one; the destructor removes it.
class FrameSocket {
  public:
    // Gets each frame, at most `fps` a second, and the last frame again when `pace` asks for one; black
    // before the first frame. Called on the socket's thread; must return soon.
    using Sink = std::function<void(std::shared_ptr<const RawFrame>)>;
    struct Shape {
        int width = 0, height = 0, fps = 0;
    };
    FrameSocket(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace);  // throws
    ~FrameSocket();
    FrameSocket(const FrameSocket&) = delete;
    FrameSocket& operator=(const FrameSocket&) = delete;

    void wake();  // call after a change of `pace`

  private:
    class Loop;
    std::string path_;
    FileDescriptor wake_;
    std::unique_ptr<Loop> loop_;
    std::jthread thread_;
};

}  // namespace svc::streamer
