#include "instance-agent/streamer/guest_display/shared_buffer.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

constexpr std::uint32_t most_stride = most_frame_side * 8, most_offset = 16U << 20;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, why);
}

constexpr std::uint32_t fourcc(char a, char b, char c, char d) {
    return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b) << 8 |
           static_cast<std::uint32_t>(c) << 16 | static_cast<std::uint32_t>(d) << 24;
}

// DRM names the bytes of a pixel from the last one, in memory, to the first.
PixelFormat format_of(std::uint32_t code) {
    switch (code) {
        case fourcc('A', 'B', '2', '4'):
            return PixelFormat::rgba;
        case fourcc('X', 'B', '2', '4'):
            return PixelFormat::rgbx;
        case fourcc('A', 'R', '2', '4'):
            return PixelFormat::bgra;
        case fourcc('X', 'R', '2', '4'):
            return PixelFormat::bgrx;
        default:
            refuse("its format is not AB24, XB24, AR24 or XR24");
    }
}

bool is_side(std::uint32_t side) {
    return side >= 2 && side <= most_frame_side;
}

std::size_t checked_size(const BufferShape& shape) {
    if (!is_side(shape.width) || !is_side(shape.height)) refuse("its width or height is not 2 to 4096");
    if (shape.stride < shape.width * 4 || shape.stride > most_stride || shape.stride % 4 != 0)
        refuse("its rows are shorter than its pixels, longer than 32768 bytes, or not of whole pixels");
    if (shape.offset > most_offset || shape.offset % 4 != 0)
        refuse("its offset is over 16 MiB or not of whole pixels");
    if (shape.modifier != 0) refuse("its modifier is not 0: only linear memory can be read");
    return shape.offset + std::size_t{shape.stride} * shape.height;
}

// A memfd that may shrink could take the pixels away while they are read. Seals alone do not tell: memory of
// huge pages has them too, and may be missing when it is first touched.
void check_memfd(int memory, const struct statfs& system) {
    const int seals = fcntl(memory, F_GET_SEALS);
    if (system.f_type != TMPFS_MAGIC || seals < 0) refuse("its memory is neither a memfd nor a dmabuf");
    if ((seals & F_SEAL_SHRINK) == 0) refuse("its memory could shrink: F_SEAL_SHRINK is not set");
}

// A dmabuf, whose memory has a fixed size, or a memfd.
bool is_dmabuf(int memory) {
    struct statfs system {};
    if (fstatfs(memory, &system) != 0) refuse("its memory is neither a memfd nor a dmabuf");
    if (system.f_type == DMA_BUF_MAGIC) return true;
    check_memfd(memory, system);
    return false;
}

const std::uint8_t* map(int memory, std::size_t size) {
    const off_t there = lseek(memory, 0, SEEK_END);
    if (there < 0 || static_cast<std::size_t>(there) < size) refuse("its memory is smaller than its pixels");
    void* const mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, memory, 0);
    if (mapped == MAP_FAILED) throw system_error("its memory cannot be mapped", errno);
    return static_cast<const std::uint8_t*>(mapped);
}

// For processors whose caches do not follow devices. A failure costs stale pixels, not more.
void tell_reader(int dmabuf, std::uint64_t flag) {
    dma_buf_sync sync{};
    sync.flags = DMA_BUF_SYNC_READ | flag;
    while (ioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &sync) != 0 && errno == EINTR) continue;
}

}  // namespace

SharedBuffer::SharedBuffer(const BufferShape& shape, FileDescriptor memory)
    : shape_(shape), format_(format_of(shape.fourcc)), size_(checked_size(shape)) {
    const bool of_device = is_dmabuf(memory.get());
    memory_ = map(memory.get(), size_);
    if (of_device) dmabuf_ = std::move(memory);
}

SharedBuffer::~SharedBuffer() {
    munmap(const_cast<std::uint8_t*>(memory_), size_);
}

std::shared_ptr<const RawFrame> SharedBuffer::frame_with(std::shared_ptr<const std::uint8_t[]> pixels) const {
    return std::make_shared<const RawFrame>(
        RawFrame{shape_.width, shape_.height, shape_.stride, format_, std::move(pixels)});
}

// To begin would wait for the GPU, which the program decides about.
void SharedBuffer::begin_reading() const {
    if (!dmabuf_) return;
    pollfd drawn{dmabuf_.get(), POLLIN, 0};
    if (poll(&drawn, 1, 0) != 1) refuse("it was presented before it was drawn");
    tell_reader(dmabuf_.get(), DMA_BUF_SYNC_START);
}

void SharedBuffer::end_reading() const {
    if (dmabuf_) tell_reader(dmabuf_.get(), DMA_BUF_SYNC_END);
}

}  // namespace svc::streamer
