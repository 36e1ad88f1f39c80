#include "instance-agent/streamer/pads/pad_listener.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "instance-agent/gamepad/pad_wire.h"
#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

constexpr int send_buffer = 32 << 10;  // about a hundred reports, each of which takes more than its bytes

input_event sync(int code) {
    input_event event{};
    event.type = EV_SYN;
    event.code = static_cast<std::uint16_t>(code);
    return event;
}

void stamp(PadEvents& events, clockid_t clock) {
    constexpr long nanoseconds_of_microsecond = 1000;
    timespec now{};
    clock_gettime(clock, &now);
    for (input_event& event : events) {
        event.input_event_sec = now.tv_sec;
        event.input_event_usec = now.tv_nsec / nanoseconds_of_microsecond;
    }
}

bool is_clock(int clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
}

}  // namespace

PadListener::PadListener(FileDescriptor connection) : connection_(std::move(connection)) {
    if (setsockopt(connection_.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer)) != 0)
        throw system_error("gamepad", errno);
}

// A packet of this size is taken whole or not at all.
bool PadListener::try_send(PadEvents& events) {
    stamp(events, clock_);
    const std::size_t size = events.size() * sizeof(input_event);
    return ::send(connection_.get(), events.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(size);
}

void PadListener::send(PadEvents events) {
    if (!lost_) lost_ = !try_send(events);
}

void PadListener::tell_of_loss() {
    PadEvents events{sync(SYN_DROPPED), sync(SYN_REPORT)};
    if (lost_) lost_ = !try_send(events);
}

short PadListener::awaited() const {
    return static_cast<short>((records_ < most_records ? POLLIN : 0) | (lost_ ? POLLOUT : 0));
}

bool PadListener::serve(const OnGrab& on_grab) {
    if (has_gone()) return false;
    tell_of_loss();
    return records_ >= most_records || read(on_grab);
}

bool PadListener::has_gone() const {
    pollfd state{connection_.get(), 0, 0};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

bool PadListener::read(const OnGrab& on_grab) {
    while (records_ < most_records) {
        const ssize_t count =
            recv(connection_.get(), record_.data() + have_, record_.size() - have_, MSG_DONTWAIT);
        if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
        have_ += static_cast<std::size_t>(count);
        if (have_ < record_.size()) continue;
        have_ = 0;
        ++records_;
        input_event record{};
        std::memcpy(&record, record_.data(), sizeof(record));
        if (!take(record, on_grab)) return false;
    }
    return true;
}

// Records of other types are what a program may write to any device: lights, rumbles.
bool PadListener::take(const input_event& record, const OnGrab& on_grab) {
    if (record.type != PAD_ORDER) return true;
    if (record.code == PAD_CLOCK && is_clock(record.value)) {
        clock_ = record.value;
        return true;
    }
    if (record.code != PAD_GRAB || record.value < 0 || record.value > 1) return false;
    on_grab(record.value == 1);
    return true;
}

}  // namespace svc::streamer
