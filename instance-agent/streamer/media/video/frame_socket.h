#pragma once
// The raw frames of a guest without X: a listening Unix stream socket that one writer at a time sends frames
// to. Each is a header of 16 bytes - 'SVCF', then width, height and bytes a row as 32-bit little endian - and
// the rows of RGBA pixels. The newest frame wins.
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

// Thread-safe. Makes the socket (an older one of that name is replaced) and removes it at its end.
class FrameSocket {
  public:
    // Each frame as it comes but at most `fps` a second, and the last one again when the pace wants one;
    // black before the first one. On a thread of its own; must return soon.
    using Sink = std::function<void(std::shared_ptr<const RawFrame>)>;
    struct Shape {
        int width = 0, height = 0, fps = 0;
    };
    FrameSocket(const std::string& path, Shape shape, Sink sink, std::shared_ptr<FramePace> pace);  // throws
    ~FrameSocket();
    FrameSocket(const FrameSocket&) = delete;
    FrameSocket& operator=(const FrameSocket&) = delete;

    void wake();  // the pace has been told something

  private:
    class Loop;
    std::string path_;
    FileDescriptor wake_;
    std::unique_ptr<Loop> loop_;
    std::jthread thread_;
};

}  // namespace svc::streamer
