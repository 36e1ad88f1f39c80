#pragma once
// Internal to this folder: writes and parses WebSocket frames, for servers and clients. wslay does it, in
// websocket_frames.cpp.
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct wslay_event_context;

namespace svc::net {

enum class FrameKind : std::uint8_t { text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

// Appends one unfragmented frame. Clients mask theirs.
void append_frame(std::string& out, FrameKind kind, std::string_view payload, bool masked);
// The same for a close frame; the reason is cut to what fits.
void append_close(std::string& out, std::uint16_t code, std::string_view reason, bool masked);

// Parses frames and joins them to messages. One thread. Takes 13 KiB, so an idle connection destroys it: see
// is_idle().
class FrameReader {
  public:
    using OnMessage = std::function<void(bool binary, std::string message)>;
    // `masked_output`: we are the client.
    FrameReader(bool masked_output, std::size_t max_message, OnMessage on_message);
    ~FrameReader();
    FrameReader(const FrameReader&) = delete;
    FrameReader& operator=(const FrameReader&) = delete;

    // Ignores its input once closed() is set. Throws what `on_message` throws.
    void feed(std::string_view data);
    // Frames to be sent, in this order: pongs, and the close frame that answers the peer's close frame or its
    // fault.
    std::string take_answers();
    // True between two messages, when a new reader would do as well.
    bool is_idle() const;

    struct Close {
        std::uint16_t code = 0;  // the peer's, 1005 for none; ours when it broke the protocol
        std::string reason;
        bool by_peer = false;
    };
    // Set once the peer has closed the connection or broken the protocol.
    const std::optional<Close>& closed() const { return closed_; }

  private:
    struct Callbacks;
    void deliver(bool binary, std::string message);
    void note_end();
    bool accept_newer_code();

    wslay_event_context* context_ = nullptr;
    bool masked_output_;
    OnMessage on_message_;
    std::exception_ptr error_;
    std::string_view input_;
    std::string answers_;
    std::optional<Close> closed_;
    std::uint64_t fed_ = 0, accounted_ = 0;
    bool in_frame_ = false, in_message_ = false, in_close_ = false;
    std::string close_payload_;
};

}  // namespace svc::net
