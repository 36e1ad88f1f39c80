#include "instance-agent/agent/guest/message.h"

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr std::size_t keep_bytes = 16U << 10;  // capacity that an empty buffer keeps

std::uint32_t byte_at(std::string_view data, std::size_t at) {
    return static_cast<unsigned char>(data[at]);
}

std::uint32_t read_u32(std::string_view data) {
    return byte_at(data, 0) | byte_at(data, 1) << 8 | byte_at(data, 2) << 16 | byte_at(data, 3) << 24;
}

[[noreturn]] void refuse() {
    throw Error(ErrorCode::invalid_argument, "message header is malformed");
}

}  // namespace

std::string pack(MessageKind kind, std::uint16_t stream, std::string_view payload) {
    std::string message;
    message.reserve(message_header_bytes + payload.size());
    for (int shift = 0; shift < 32; shift += 8)
        message += static_cast<char>(static_cast<std::uint32_t>(payload.size()) >> shift);
    message += static_cast<char>(kind);
    message += '\0';
    message += static_cast<char>(stream & 0xff);
    message += static_cast<char>(stream >> 8);
    return message.append(payload);
}

void MessageReader::feed(std::string_view data) {
    if (begin_ > 0) in_.erase(0, begin_);
    begin_ = 0;
    in_.append(data);
}

void MessageReader::check_header(MessageKind kind, std::uint8_t flags, std::uint16_t stream,
                                 std::size_t length) const {
    if (flags != 0) refuse();
    if (kind == MessageKind::json && (stream != 0 || length == 0 || length > max_json_)) refuse();
    if (kind == MessageKind::release && length > max_release_bytes) refuse();
    if (kind != MessageKind::json && kind != MessageKind::release) refuse();
}

std::optional<GuestMessage> MessageReader::next() {
    const std::string_view rest = std::string_view(in_).substr(begin_);
    if (rest.size() < message_header_bytes) return std::nullopt;
    const std::size_t length = read_u32(rest);
    GuestMessage message;
    message.kind = static_cast<MessageKind>(byte_at(rest, 4));
    message.stream = static_cast<std::uint16_t>(byte_at(rest, 6) | byte_at(rest, 7) << 8);
    check_header(message.kind, static_cast<std::uint8_t>(byte_at(rest, 5)), message.stream, length);
    if (rest.size() - message_header_bytes < length) return std::nullopt;
    message.payload = rest.substr(message_header_bytes, length);
    begin_ += message_header_bytes + length;
    if (begin_ == in_.size()) {
        in_.clear();
        begin_ = 0;
        if (in_.capacity() > keep_bytes) in_.shrink_to_fit();
    }
    return message;
}

}  // namespace svc::agent
