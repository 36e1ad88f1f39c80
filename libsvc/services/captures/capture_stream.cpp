#include "libsvc/services/captures/capture_stream.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t capture_piece = std::size_t{64} << 10;
constexpr std::size_t most_errors = std::size_t{64} << 10;  // bytes that the command may complain in
constexpr std::uint64_t bytes_a_second = 2U << 20;          // of a recording: twice what the streamer makes
using Steady = std::chrono::steady_clock;

// Bytes of the piece, 0: none are here. Negative: none will come.
ssize_t read_some(int fd, std::vector<char>& piece) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    return count == 0 ? -1 : count;
}

}  // namespace

CaptureLimits CaptureLimits::of(const CaptureRequest& request) {
    CaptureLimits limits;
    limits.time += request.length;
    limits.bytes += bytes_a_second * static_cast<std::uint64_t>(request.length.count());
    return limits;
}

CaptureStream::CaptureStream(Parts parts)
    : parts_(std::move(parts)), end_(Steady::now() + parts_.limits.time) {}

void CaptureStream::begin(const CaptureRequest& request) {
    ask(request.to_json().dump() + "\n");
    await_some();
}

std::string CaptureStream::read(std::size_t at_most) {
    await_some();
    std::string piece = waiting_.substr(0, at_most);
    waiting_.erase(0, piece.size());
    return piece;
}

// The standard input stays open: its end would tell the streamer that nobody waits.
void CaptureStream::ask(const std::string& line) {
    pollfd room{parts_.process->input(), POLLOUT, 0};
    ::poll(&room, 1, static_cast<int>(parts_.limits.silence.count()));
    if (::write(parts_.process->input(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        broken_off();
}

// Silence counts from here: who reads may have taken its time before.
void CaptureStream::await_some() {
    silent_since_ = Steady::now();
    while (waiting_.empty() && !blocks_.is_whole()) await_bytes();
}

void CaptureStream::await_bytes() {
    const auto now = Steady::now();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::min<Steady::duration>(end_ - now, silent_since_ + parts_.limits.silence - now));
    if (left.count() <= 0) fail(now < end_ ? "nothing comes any more" : "it takes too long");
    std::array<pollfd, 4> polled{{{parts_.process->output(), POLLIN, 0},
                                  {errors_open_ ? parts_.process->errors() : -1, POLLIN, 0},
                                  {parts_.process->ended(), POLLIN, 0},
                                  {parts_.stopped->get(), POLLIN, 0}}};
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) throw system_error("waiting for a capture", errno);
    if (ready <= 0) return;
    if (polled[3].revents != 0) throw Error(ErrorCode::unavailable, "the service ends");
    if (polled[1].revents != 0) drop_errors();
    if (polled[0].revents != 0)
        read_output();
    else if (polled[2].revents != 0)
        broken_off();
}

void CaptureStream::read_output() {
    std::vector<char> piece(capture_piece);
    const ssize_t count = read_some(parts_.process->output(), piece);
    if (count < 0) broken_off();
    received_ += static_cast<std::uint64_t>(count);
    if (received_ > parts_.limits.bytes) fail("it sends too much");
    answered_ = answered_ || count > 0;
    try {
        // Heads of blocks alone are silence.
        waiting_ += blocks_.take({piece.data(), static_cast<std::size_t>(count)});
    } catch (const Error& e) {
        throw Error(e.code(), parts_.noun + " cannot be captured: " + e.what());
    }
    if (blocks_.is_whole()) parts_.turn.reset();  // whoever has read the end may begin the next one
}

// Why the command could not connect: whoever asks is told that there is no streamer.
void CaptureStream::drop_errors() {
    std::vector<char> piece(most_errors);
    const ssize_t count = read_some(parts_.process->errors(), piece);
    dropped_ += count > 0 ? static_cast<std::size_t>(count) : 0;
    errors_open_ = count >= 0 && dropped_ < most_errors;  // a guest that complains on is not listened to
}

void CaptureStream::broken_off() const {
    if (answered_) fail("its streamer has broken off");
    throw Error(ErrorCode::invalid_argument, parts_.noun + " does not stream: no streamer is ready in it");
}

void CaptureStream::fail(const std::string& why) const {
    throw Error(ErrorCode::unavailable, parts_.noun + " cannot be captured: " + why);
}

}  // namespace svc
