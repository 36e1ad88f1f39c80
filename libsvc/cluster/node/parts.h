#pragma once
// A message of any length over a WebSocket, which takes short ones only: parts of a byte that tells whether
// more follows, and a piece of the text.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace svc::node {

inline constexpr std::size_t part_bytes = std::size_t{256} << 10;

// Calls `send` with each part; the parts of one message must not be mixed with those of another.
template <class Send>
void send_in_parts(std::string_view message, Send&& send) {
    do {
        const std::string_view piece = message.substr(0, part_bytes);
        message.remove_prefix(piece.size());
        send(std::string(1, message.empty() ? '\0' : '\1').append(piece));
    } while (!message.empty());
}

// One connection's half-received message. Not thread-safe.
class PartReader {
  public:
    // The whole message behind its last part.
    std::optional<std::string> take(std::string_view part) {
        if (part.empty()) return std::nullopt;
        text_ += part.substr(1);
        if (part.front() != '\0') return std::nullopt;
        return std::exchange(text_, std::string());
    }

  private:
    std::string text_;
};

}  // namespace svc::node
