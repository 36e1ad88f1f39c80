#pragma once
// Framing of the guest interface: an 8-byte header (u32 length, u8 kind, u8 flags = 0, u16 stream, little
// endian), then `length` bytes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace svc::agent {

enum class MessageKind : std::uint8_t { json = 1, frame = 2, release = 3 };

struct GuestMessage {
    MessageKind kind = MessageKind::json;
    std::uint16_t stream = 0;
    std::string payload;
};

inline constexpr std::size_t message_header_bytes = 8;
inline constexpr std::size_t max_release_bytes = 64;

std::string pack(MessageKind kind, std::uint16_t stream, std::string_view payload);

// Assembles messages from the bytes of a client. One thread.
class MessageReader {
  public:
    explicit MessageReader(std::size_t max_json) : max_json_(max_json) {}
    void feed(std::string_view data);
    // The next message; nothing: more bytes are needed. Throws invalid_argument for a header that no client
    // may send; then the stream cannot be read any further.
    std::optional<GuestMessage> next();
    std::size_t buffered() const { return in_.size() - begin_; }

  private:
    void check_header(MessageKind kind, std::uint8_t flags, std::uint16_t stream, std::size_t length) const;

    std::size_t max_json_;
    std::string in_;
    std::size_t begin_ = 0;  // bytes before it are read already
};

}  // namespace svc::agent
