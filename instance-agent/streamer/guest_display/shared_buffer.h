#pragma once
// Memory that a program of the guest shares with the streamer (docs/guest-display.md, Buffers).
#include <cstddef>
#include <cstdint>
#include <memory>

#include "instance-agent/streamer/guest_display/raw_frame.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

// What the program says of it; nothing is checked yet.
struct BufferShape {
    std::uint32_t width = 0, height = 0, stride = 0, offset = 0;  // pixels, bytes
    std::uint32_t fourcc = 0;                                     // DRM's
    std::uint64_t modifier = 0;
};

// A buffer that can be read as long as it exists, whatever the program does: its memory cannot shrink.
// Thread-safe.
class SharedBuffer {
  public:
    // Throws Error ("its ...") where the shape is out of range, or the memory is too small, could shrink, or
    // cannot be mapped.
    SharedBuffer(const BufferShape& shape, FileDescriptor memory);
    ~SharedBuffer();
    SharedBuffer(const SharedBuffer&) = delete;
    SharedBuffer& operator=(const SharedBuffer&) = delete;

    std::size_t size() const { return size_; }  // bytes that are mapped
    // A frame of the present pixels, without a copy. It and its copies keep `buffer` alive; `returned` is
    // called when the last one is gone, on whatever thread lets go of it. Throws Error where a GPU still
    // draws.
    template <class Returned>
    static std::shared_ptr<const RawFrame> frame_of(const std::shared_ptr<const SharedBuffer>& buffer,
                                                    Returned returned) {
        const auto release = [buffer, returned](const std::uint8_t*) {
            buffer->end_reading();
            returned();
        };
        buffer->begin_reading();
        return buffer->frame_with({buffer->pixels(), release});
    }

  private:
    const std::uint8_t* pixels() const { return memory_ + shape_.offset; }
    std::shared_ptr<const RawFrame> frame_with(std::shared_ptr<const std::uint8_t[]> pixels) const;
    void begin_reading() const;
    void end_reading() const;

    BufferShape shape_;
    PixelFormat format_;
    std::size_t size_;
    const std::uint8_t* memory_ = nullptr;
    FileDescriptor dmabuf_;  // empty: memory of a memfd
};

}  // namespace svc::streamer
