#include "instance-agent/streamer/guest_display/display_session.h"

#include <cstring>
#include <string>
#include <utility>

#include "instance-agent/libsvcguest/display_wire.h"
#include "libsvc/base/error.h"

namespace svc::streamer {

static_assert(DisplaySession::most_buffers == WIRE_MAX_BUFFERS);

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, why);
}

template <class Message>
Message read(std::string_view packet) {
    Message message{};
    if (packet.size() != sizeof(message))
        refuse("a message has " + std::to_string(packet.size()) + " bytes instead of " +
               std::to_string(sizeof(message)));
    std::memcpy(&message, packet.data(), sizeof(message));
    return message;
}

std::uint32_t kind_of(std::string_view packet) {
    std::uint32_t kind = 0;
    if (packet.size() < sizeof(kind)) refuse("a message is too short");
    std::memcpy(&kind, packet.data(), sizeof(kind));
    return kind;
}

std::string named(std::uint32_t buffer) {
    return "buffer " + std::to_string(buffer);
}

}  // namespace

std::shared_ptr<const RawFrame> DisplaySession::take(std::string_view packet,
                                                     std::vector<FileDescriptor> descriptors) {
    const std::uint32_t kind = kind_of(packet);
    if (!greeted_ && kind != WIRE_HELLO) refuse("the first message is no hello");
    if (kind != WIRE_BUFFER && !descriptors.empty()) refuse("only a buffer has a descriptor");
    switch (kind) {
        case WIRE_HELLO:
            return greet(packet), nullptr;
        case WIRE_BUFFER:
            return add(packet, std::move(descriptors)), nullptr;
        case WIRE_REMOVE:
            return remove(packet), nullptr;
        case WIRE_PRESENT:
            return present(packet);
        default:
            refuse("a message has the unknown kind " + std::to_string(kind));
    }
}

void DisplaySession::greet(std::string_view packet) {
    const auto hello = read<wire_hello>(packet);
    if (greeted_) refuse("there is a second hello");
    if (hello.version != WIRE_VERSION)
        refuse("the program speaks version " + std::to_string(hello.version) + ", this streamer " +
               std::to_string(WIRE_VERSION));
    greeted_ = true;
}

std::optional<DisplaySession::Buffer>& DisplaySession::buffer_of(std::uint32_t number) {
    if (number >= buffers_.size()) refuse("there are only buffers 0 to 7");
    return buffers_[number];
}

std::size_t DisplaySession::bytes() const {
    std::size_t bytes = 0;
    for (const auto& buffer : buffers_) bytes += buffer ? buffer->memory->size() : 0;
    return bytes;
}

void DisplaySession::add(std::string_view packet, std::vector<FileDescriptor> descriptors) {
    const auto wire = read<wire_buffer>(packet);
    auto& buffer = buffer_of(wire.buffer);
    if (buffer) refuse(named(wire.buffer) + " is there already");
    if (wire.zero != 0) refuse(named(wire.buffer) + " has a member that this version does not know");
    if (descriptors.size() != 1) refuse(named(wire.buffer) + " has to come with one descriptor");
    const BufferShape shape{wire.width, wire.height, wire.stride, wire.offset, wire.fourcc, wire.modifier};
    with_context(named(wire.buffer), [&] {
        buffer = Buffer{std::make_shared<const SharedBuffer>(shape, std::move(descriptors.front()))};
    });
    if (bytes() > most_bytes) refuse("the buffers have more than 256 MiB together");
}

void DisplaySession::remove(std::string_view packet) {
    const auto wire = read<wire_turn>(packet);
    auto& buffer = buffer_of(wire.buffer);
    if (!buffer) refuse(named(wire.buffer) + " is not there");
    buffer.reset();
}

std::shared_ptr<const RawFrame> DisplaySession::present(std::string_view packet) {
    const auto wire = read<wire_turn>(packet);
    auto& buffer = buffer_of(wire.buffer);
    if (!buffer) refuse(named(wire.buffer) + " is not there");
    if (buffer->turn) refuse(named(wire.buffer) + " was presented twice");
    const BufferTurn turn{wire.buffer, wire.turn};
    auto frame = with_context(named(wire.buffer), [&] {
        return SharedBuffer::frame_of(buffer->memory, [returned = returned_, turn] { returned(turn); });
    });
    buffer->turn = wire.turn;
    return frame;
}

bool DisplaySession::take_back(BufferTurn turn) {
    auto& buffer = buffer_of(turn.buffer);
    if (!buffer || buffer->turn != turn.turn) return false;
    buffer->turn.reset();
    return true;
}

}  // namespace svc::streamer
