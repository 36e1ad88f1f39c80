#pragma once
// What a program that draws the display says (docs/guest-display.md, Messages), without its socket.
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "instance-agent/streamer/guest_display/shared_buffer.h"

namespace svc::streamer {

// A buffer that is the program's again, and the turn that it gave it away in.
struct BufferTurn {
    std::uint32_t buffer = 0, turn = 0;
};

// One thread; frames may be let go of on any. The frames outlive it.
class DisplaySession {
  public:
    static constexpr std::size_t most_buffers = 8;
    static constexpr std::size_t most_bytes = 256U << 20;  // of all buffers together

    // Called when a frame is gone, on whatever thread lets go of it; also after ~DisplaySession.
    using Returned = std::function<void(BufferTurn)>;
    explicit DisplaySession(Returned returned) : returned_(std::move(returned)) {}

    // A packet and the descriptors that came with it. Gives the frame that it presents, if it does. Throws
    // Error for what is malformed or against the rules: the program has to go.
    std::shared_ptr<const RawFrame> take(std::string_view packet, std::vector<FileDescriptor> descriptors);
    bool greeted() const { return greeted_; }
    // Whether the program is to be told: it may have removed the buffer meanwhile.
    bool take_back(BufferTurn turn);

  private:
    struct Buffer {
        std::shared_ptr<const SharedBuffer> memory;
        std::optional<std::uint32_t> turn{};  // of the program, while it is the streamer's
    };
    void greet(std::string_view packet);
    void add(std::string_view packet, std::vector<FileDescriptor> descriptors);
    void remove(std::string_view packet);
    std::shared_ptr<const RawFrame> present(std::string_view packet);
    std::optional<Buffer>& buffer_of(std::uint32_t number);
    std::size_t bytes() const;

    Returned returned_;
    bool greeted_ = false;
    std::array<std::optional<Buffer>, most_buffers> buffers_;
};

}  // namespace svc::streamer
