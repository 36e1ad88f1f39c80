#include "instance-agent/agent/devices/camera/frame_buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

std::size_t whole_pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

FileDescriptor make_memory(std::size_t bytes) {
    FileDescriptor memory(memfd_create("svc-camera", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memory) throw system_error("cannot make memory for frames", errno);
    if (ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0)
        throw system_error("cannot size memory for frames", errno);
    return memory;
}

std::shared_ptr<std::uint8_t> map_memory(int memory, std::size_t bytes) {
    void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (place == MAP_FAILED) throw system_error("cannot map memory for frames", errno);
    return {static_cast<std::uint8_t*>(place), [bytes](std::uint8_t* mapped) { munmap(mapped, bytes); }};
}

// Sealed after the agent has mapped it, so that the agent's own mapping stays writable. Older kernels lack
// this seal: there a guest can write, but only into frames that it alone sees.
void seal(int memory) {
    const int fixed = F_SEAL_SHRINK | F_SEAL_GROW;
    if (fcntl(memory, F_ADD_SEALS, fixed | F_SEAL_FUTURE_WRITE) == 0)
        fcntl(memory, F_ADD_SEALS, F_SEAL_SEAL);
    else if (fcntl(memory, F_ADD_SEALS, fixed | F_SEAL_SEAL) != 0)
        throw system_error("cannot seal memory for frames", errno);
}

bool is_free(const FrameBufferPtr& buffer) {
    return !buffer->out && buffer.use_count() == 1;
}

}  // namespace

FrameBufferPtr FramePool::take(const std::optional<FrameContent>& wanted) {
    FrameBufferPtr best;
    for (const FrameBufferPtr& buffer : buffers_) {
        if (!is_free(buffer)) continue;
        if (wanted && buffer->content == wanted) return buffer;
        best = buffer;
    }
    if (best) best->content.reset();
    return best;
}

std::size_t FramePool::available() const {
    return static_cast<std::size_t>(std::count_if(buffers_.begin(), buffers_.end(), is_free));
}

FrameBufferPtr PrivateFrames::take_for(std::size_t bytes) {
    if (bytes_ != bytes) clear();
    bytes_ = bytes;
    if (FrameBufferPtr free = take()) return free;
    if (buffers_.size() == most) return nullptr;
    auto buffer = std::make_shared<FrameBuffer>();
    buffer->memory.reset(new std::uint8_t[bytes], std::default_delete<std::uint8_t[]>());
    buffer->data = buffer->memory.get();
    buffers_.push_back(buffer);
    return buffer;
}

SharedFrames::SharedFrames(std::size_t frame_bytes)
    : slot_bytes_(whole_pages(frame_bytes)), memory_(make_memory(slot_bytes_ * slots)) {
    const auto mapped = map_memory(memory_.get(), slot_bytes_ * slots);
    seal(memory_.get());
    for (std::size_t slot = 0; slot < slots; ++slot) {
        const auto buffer = std::make_shared<FrameBuffer>();
        buffer->memory = mapped;
        buffer->data = mapped.get() + slot * slot_bytes_;
        buffer->slot = static_cast<int>(slot);
        buffers_.push_back(buffer);
    }
}

FileDescriptor SharedFrames::descriptor() const {
    FileDescriptor copy(fcntl(memory_.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) throw system_error("cannot share memory for frames", errno);
    return copy;
}

void SharedFrames::give_back(std::uint32_t slot) {
    if (slot < buffers_.size()) buffers_[slot]->out = false;
}

}  // namespace svc::agent
