#include "instance-agent/streamer/guest_display/display_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "instance-agent/libsvcguest/display_wire.h"
#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

constexpr int most_packets = 64;  // of one read(): others have their turn in between

struct Packet {
    std::string bytes;
    std::vector<FileDescriptor> descriptors;
};

// All of them, or those that nobody takes would stay open.
std::vector<FileDescriptor> descriptors_of(msghdr& message) {
    std::vector<FileDescriptor> descriptors;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            descriptors.emplace_back(fd);
        }
    }
    return descriptors;
}

// Nothing: no packet has come.
std::optional<Packet> receive(int socket) {
    std::array<char, WIRE_MAX_REQUEST> bytes;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
    iovec piece{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t size = 0;
    // The kernel tells once that the program closed without reading all; what it sent before comes after
    // that.
    do size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (size < 0 && (errno == EINTR || errno == ECONNRESET));
    if (size < 0 && errno == EAGAIN) return std::nullopt;
    if (size <= 0) throw Error(ErrorCode::unavailable, "the program has gone");
    auto descriptors = descriptors_of(message);
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
        throw Error(ErrorCode::invalid_argument, "a message is too long or has too many descriptors");
    return Packet{{bytes.data(), static_cast<std::size_t>(size)}, std::move(descriptors)};
}

}  // namespace

DisplayConnection::DisplayConnection(FileDescriptor socket)
    : socket_(std::move(socket)), session_([returns = returns_](BufferTurn turn) {
          returns->turns.with([&](auto& turns) { turns.push_back(turn); });
          returns->wake.wake();
      }) {}

std::shared_ptr<const RawFrame> DisplayConnection::read() {
    std::shared_ptr<const RawFrame> newest;
    try {
        for (int i = 0; i < most_packets; ++i) {
            auto packet = receive(socket_.get());
            if (!packet) break;
            if (auto frame = session_.take(packet->bytes, std::move(packet->descriptors)))
                newest = std::move(frame);
        }
        flush();
    } catch (const Error& e) {
        // The last picture of a program that has gone is shown. The next call tells of its end.
        if (!newest || e.code() != ErrorCode::unavailable) throw;
    }
    return newest;
}

void DisplayConnection::send(std::string packet) {
    if (waiting_.size() >= most_waiting)
        throw Error(ErrorCode::exhausted, "the program does not read what it is told");
    waiting_.push_back(std::move(packet));
    flush();
}

void DisplayConnection::flush() {
    while (!waiting_.empty()) {
        const std::string& next = waiting_.front();
        if (::send(socket_.get(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) return;  // there is no room
            throw Error(ErrorCode::unavailable, "the program has gone");
        }
        waiting_.pop_front();
    }
}

void DisplayConnection::give_back() {
    returns_->wake.drain();
    const auto turns = returns_->turns.with([](auto& all) { return std::exchange(all, {}); });
    for (const BufferTurn& turn : turns)
        if (session_.take_back(turn)) send(packet_of(wire_turn{WIRE_RELEASE, turn.buffer, turn.turn}));
}

void DisplayConnection::refuse(std::string_view reason) {
    const std::uint32_t kind = WIRE_REFUSED;
    const std::string packet = packet_of(kind) + std::string(reason.substr(0, WIRE_MAX_TEXT));
    waiting_.clear();
    [[maybe_unused]] const ssize_t sent =
        ::send(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

short DisplayConnection::events() const {
    return static_cast<short>(POLLIN | (waiting_.empty() ? 0 : POLLOUT));
}

}  // namespace svc::streamer
