#pragma once
// What a program that draws the display sends, and memory for it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "instance-agent/libsvcguest/display_wire.h"
#include "instance-agent/libsvcguest/svcguest.h"
#include "instance-agent/streamer/guest_display/display_connection.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

inline std::string hello_packet(std::uint32_t version = WIRE_VERSION) {
    return packet_of(wire_hello{WIRE_HELLO, version});
}
inline wire_buffer wire_of(std::uint32_t number, std::uint32_t width = 16, std::uint32_t height = 8) {
    return {WIRE_BUFFER, number, width, height, width * 4, 0, SVCGUEST_RGBA, 0, 0};
}
inline std::string present_packet(std::uint32_t number, std::uint32_t turn = 1) {
    return packet_of(wire_turn{WIRE_PRESENT, number, turn});
}
inline std::string remove_packet(std::uint32_t number) {
    return packet_of(wire_turn{WIRE_REMOVE, number, 0});
}

constexpr int good_seals = F_SEAL_SHRINK;

inline FileDescriptor memory_of(std::size_t size, int seals = good_seals, unsigned flags = 0) {
    FileDescriptor memory(memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
    if (!memory) throw system_error("memfd", errno);
    if (ftruncate(memory.get(), static_cast<off_t>(size)) != 0 ||
        fcntl(memory.get(), F_ADD_SEALS, seals) != 0)
        throw system_error("memory of a buffer", errno);
    return memory;
}
inline std::vector<FileDescriptor> with(FileDescriptor memory) {
    std::vector<FileDescriptor> descriptors;
    descriptors.push_back(std::move(memory));
    return descriptors;
}

}  // namespace svc::streamer
