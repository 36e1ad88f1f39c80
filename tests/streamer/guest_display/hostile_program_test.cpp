// Programs that do not keep the rules of a display, over a real socket.
#include <linux/input-event-codes.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "instance-agent/streamer/guest_display/guest_input.h"
#include "tests/streamer/guest_display/display_packets.h"
#include "tests/streamer/guest_display/display_program.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using Place = DisplayPlace;
using Program = DisplayProgram;

TEST_CASE("a program at fault is told why") {
    Place place;
    Program program(place.path);
    program.next(1);
    svcguest_buffer shape{64, 48, 256, 0, SVCGUEST_RGBA, 0};
    CHECK(svcguest_display_add_buffer(program.display, &shape, memory_of(256 * 48, 0).get()) == 0);
    CHECK(program.next(1) ==
          Lines{"disconnected: buffer 0: its memory could shrink: F_SEAL_SHRINK is not set"});
    CHECK(svcguest_display_remove_buffer(program.display, 0) == 0);
    CHECK(program.next(1) == Lines{"mode 64x48 160 30 false"});
}

// A program without the library.
FileDescriptor connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    FileDescriptor fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    REQUIRE(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    return fd;
}

void send_with(int socket, const std::string& packet, const std::vector<int>& descriptors) {
    iovec piece{const_cast<char*>(packet.data()), packet.size()};
    std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    std::copy_n(descriptors.data(), descriptors.size(), reinterpret_cast<int*>(CMSG_DATA(header)));
    REQUIRE(sendmsg(socket, &message, MSG_NOSIGNAL) >= 0);
}

// Until the end of the connection: the reason of a refusal.
std::string refusal_at(int socket) {
    std::string reason;
    for (std::array<char, 8192> packet;;) {
        const ssize_t size = recv(socket, packet.data(), packet.size(), 0);
        if (size < 0 && errno == ECONNRESET) continue;
        if (size <= 0) return reason;
        std::uint32_t kind = 0;
        std::memcpy(&kind, packet.data(), sizeof(kind));
        if (kind == WIRE_REFUSED) reason.assign(packet.data() + 4, static_cast<std::size_t>(size) - 4);
    }
}

std::size_t open_descriptors() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_CASE("descriptors that a hostile program sends do not stay open") {
    Place place;
    const FileDescriptor memory = memory_of(4096);
    const auto before = open_descriptors();
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{200}}) {
        const FileDescriptor program = connect_to(place.path);
        send_with(program.get(), hello_packet(), std::vector<int>(count, memory.get()));
        CHECK_FALSE(refusal_at(program.get()).empty());
    }
    const FileDescriptor long_one = connect_to(place.path);
    send_with(long_one.get(), std::string(5000, 'x'), {memory.get()});
    CHECK_THAT(refusal_at(long_one.get()), Catch::Contains("too long"));
    for (int i = 0; i < 20; ++i) {
        const FileDescriptor program = connect_to(place.path);
        send_with(program.get(), hello_packet(2), {});
        CHECK_THAT(refusal_at(program.get()), Catch::Contains("version 2"));
    }
    CHECK(test::eventually([&] { return open_descriptors() == before + 1; }));  // `long_one`
}

TEST_CASE("a program that takes nothing any more loses its place") {
    Place place;
    const FileDescriptor half = connect_to(place.path);
    REQUIRE(::shutdown(half.get(), SHUT_RD) == 0);
    send_with(half.get(), hello_packet(), {});
    Program other(place.path);
    while (other.next(1) != Lines{"mode 64x48 160 30 false"}) continue;  // it may have been refused first
}

TEST_CASE("a program that does not read is disconnected, and the streamer goes on") {
    Place place;
    const FileDescriptor deaf = connect_to(place.path);
    send_with(deaf.get(), hello_packet(), {});
    const auto input = make_guest_input(place.display);
    Program other(place.path);
    CHECK(other.next(1) == Lines{"disconnected: another program draws the display"});
    for (int i = 0; i < 20'000; ++i) input->move_by(i, i);
    CHECK(other.next(1) == Lines{"mode 64x48 160 30 false"});
    input->key(KEY_A, true);
    CHECK(other.next(1) == Lines{"key 30 true"});
}

}  // namespace
}  // namespace svc::streamer
