#pragma once
// Memory for frames: of the agent alone, or shared with the guest that has the camera open.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "instance-agent/agent/devices/camera/pixels.h"
#include "libsvc/base/file.h"

namespace svc::agent {

// What a buffer shows: the same twice need not be written twice.
struct FrameContent {
    std::uint64_t version = 0;  // of the picture; 0 is black
    Rotation rotation = Rotation::none;
    bool operator==(const FrameContent&) const = default;
};

// The pixels belong to who was given the buffer to fill, and to readers once `content` is set. Everything
// else, and taking and giving back pointers, is done under the lock of the CameraFeed.
struct FrameBuffer {
    std::shared_ptr<std::uint8_t> memory;  // keeps all of it, also after the pool is gone
    std::uint8_t* data = nullptr;
    int slot = -1;                        // in the memory that is shared; -1: not shared
    std::optional<FrameContent> content;  // nothing: being filled, or never was
    bool out = false;                     // the guest has it

    std::uint32_t* pixels() const { return reinterpret_cast<std::uint32_t*>(data); }
};
using FrameBufferPtr = std::shared_ptr<FrameBuffer>;

// One thread at a time.
class FramePool {
  public:
    // One that nobody holds, best one that shows `wanted`; null: none. What it shows else is forgotten.
    FrameBufferPtr take(const std::optional<FrameContent>& wanted = {});
    std::size_t available() const;  // that nobody holds

  protected:
    std::vector<FrameBufferPtr> buffers_;
};

// As many as can be in use at once: the newest, the one being filled, and one being looked at. Memory is
// taken when it is needed.
class PrivateFrames : public FramePool {
  public:
    static constexpr std::size_t most = 3;
    FrameBufferPtr take_for(std::size_t bytes);  // throws bad_alloc; buffers of another size go
    void clear() { buffers_.clear(); }

  private:
    std::size_t bytes_ = 0;
};

// A sealed memfd: its size is fixed, and who is given the descriptor can only read.
class SharedFrames : public FramePool {
  public:
    static constexpr std::size_t slots = 5;
    explicit SharedFrames(std::size_t frame_bytes);  // throws Error

    std::size_t slot_bytes() const { return slot_bytes_; }
    FileDescriptor descriptor() const;   // another one for the same memory
    void give_back(std::uint32_t slot);  // what is not out is ignored

  private:
    std::size_t slot_bytes_;
    FileDescriptor memory_;
};

}  // namespace svc::agent
