#include "instance-agent/streamer/media/video/frame_reader.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace svc::streamer {
namespace {

std::uint32_t little_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
           std::uint32_t{bytes[3]} << 24;
}

bool is_side(std::uint32_t side) {
    return side >= 2 && side <= most_frame_side;
}

}  // namespace

bool FrameReader::start_frame() {
    if (std::memcmp(header_.data(), "SVCF", 4) != 0) return false;
    auto frame = std::make_shared<RawFrame>();
    frame->width = little_endian(&header_[4]);
    frame->height = little_endian(&header_[8]);
    frame->stride = little_endian(&header_[12]);
    if (!is_side(frame->width) || !is_side(frame->height)) return false;
    if (frame->stride < frame->width * 4 || frame->stride > most_frame_side * 8) return false;
    pixels_ = std::make_shared_for_overwrite<std::uint8_t[]>(std::size_t{frame->stride} * frame->height);
    frame->pixels = pixels_;
    frame_ = std::move(frame);
    have_ = 0;
    return true;
}

FrameReader::Result FrameReader::read_from(int fd) {
    while (true) {
        std::uint8_t* const into = frame_ ? pixels_.get() : header_.data();
        const std::size_t wanted = frame_ ? std::size_t{frame_->stride} * frame_->height : header_size;
        const ssize_t count = recv(fd, into + have_, wanted - have_, MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN ? Result::nothing : Result::closed;
        if (count == 0) return Result::closed;
        have_ += static_cast<std::size_t>(count);
        if (have_ < wanted) continue;
        if (frame_) return Result::frame;
        if (!start_frame()) return Result::closed;
    }
}

std::shared_ptr<const RawFrame> FrameReader::take() {
    have_ = 0;
    return std::exchange(frame_, nullptr);
}

}  // namespace svc::streamer
