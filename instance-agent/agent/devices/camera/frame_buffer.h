#pragma once
// Memory for frames, private to the agent or shared with the guest that has the camera open.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "instance-agent/agent/devices/camera/pixels.h"
#include "libsvc/base/file.h"

namespace svc::agent {

// What a buffer shows. A buffer that shows this already is not written again.
struct FrameContent {
    std::uint64_t version = 0;  // number of the picture; 0: black
    Rotation rotation = Rotation::none;
    bool operator==(const FrameContent&) const = default;
};

// The thread that fills a buffer owns its pixels until `content` is set; then they are only read. All other
// members, and copies of pointers, are under the lock of the CameraFeed.
struct FrameBuffer {
    std::shared_ptr<std::uint8_t> memory;  // owns the mapping, also after the pool is gone
    std::uint8_t* data = nullptr;
    int slot = -1;                        // in shared memory; -1: private memory
    std::optional<FrameContent> content;  // nothing: not filled, or being filled
    bool out = false;                     // the guest has not released it

    std::uint32_t* pixels() const { return reinterpret_cast<std::uint32_t*>(data); }
};
using FrameBufferPtr = std::shared_ptr<FrameBuffer>;

// One thread at a time.
class FramePool {
  public:
    // A buffer without a holder, if possible one that shows `wanted`; the content of any other one is reset.
    // Null: every buffer has a holder.
    FrameBufferPtr take(const std::optional<FrameContent>& wanted = {});
    std::size_t available() const;  // buffers without a holder

  protected:
    std::vector<FrameBufferPtr> buffers_;
};

// Private buffers: one is the newest, one is being filled, one is being copied. Memory is allocated at need.
class PrivateFrames : public FramePool {
  public:
    static constexpr std::size_t most = 3;
    FrameBufferPtr take_for(std::size_t bytes);  // throws bad_alloc; frees buffers of another size
    void clear() { buffers_.clear(); }

  private:
    std::size_t bytes_ = 0;
};

// Buffers in a sealed memfd. Its size is fixed, and a guest that gets the descriptor can only read.
class SharedFrames : public FramePool {
  public:
    static constexpr std::size_t slots = 5;
    explicit SharedFrames(std::size_t frame_bytes);  // throws Error

    std::size_t slot_bytes() const { return slot_bytes_; }
    FileDescriptor descriptor() const;   // a duplicate
    void give_back(std::uint32_t slot);  // ignored for a slot that the guest does not have

  private:
    std::size_t slot_bytes_;
    FileDescriptor memory_;
};

}  // namespace svc::agent
