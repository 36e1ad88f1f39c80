#include "instance-agent/agent/devices/camera/live_stream.h"

#include <algorithm>

namespace svc::agent {
namespace {

constexpr std::size_t waste_bytes = 256U << 10;

}  // namespace

void LiveStream::begin() {
    forget();
    position_ = 0;
    waste_.resize(waste_bytes);
}

void LiveStream::end() {
    forget();
    private_.clear();
    waste_ = {};
}

void LiveStream::forget() {
    filling_.reset();
    newest_.reset();
    filled_ = 0;
}

void LiveStream::set_frames(Resolution size, SharedFrames* shared) {
    const auto is_shared = [](const FrameBufferPtr& buffer) { return buffer && buffer->slot >= 0; };
    if (size != size_ || is_shared(filling_)) filling_.reset();
    if (size != size_ || is_shared(newest_)) newest_.reset();
    size_ = size;
    shared_ = shared;
}

// The last free slot of shared memory stays for complete frames: a writer that stops in the middle of a frame
// would keep it.
FrameBufferPtr LiveStream::take_buffer() {
    const bool is_room = shared_ != nullptr && !private_only_ && shared_->available() > 1;
    return is_room ? shared_->take() : private_.take_for(size_.bytes());
}

StreamRoom LiveStream::room() {
    const std::size_t into_frame = position_ % size_.bytes();
    if (!filling_ && into_frame == 0) {
        filling_ = take_buffer();
        filled_ = 0;
    }
    if (filling_) return {filling_, filling_->data + filled_, size_.bytes() - filled_};
    return {nullptr, waste_.data(), std::min(waste_.size(), size_.bytes() - into_frame)};
}

// `room` is passed by value, so that its buffer is released in this call, under the lock of the caller.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void LiveStream::took(StreamRoom room, std::size_t bytes, std::uint64_t version) {
    position_ += bytes;
    if (!room.buffer || room.buffer != filling_) return;
    filled_ += bytes;
    if (filled_ < size_.bytes()) return;
    filling_->content = FrameContent{version, Rotation::none};
    newest_ = std::move(filling_);
    filling_.reset();
}

}  // namespace svc::agent
