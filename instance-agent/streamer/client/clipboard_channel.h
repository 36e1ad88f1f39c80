#pragma once
// The client's channel `svc:clipboard` (docs/exchange.md): contents go between the client and the guest's
// clipboard, in the directions that the operator allows.
#include "instance-agent/streamer/client/permissions.h"
#include "instance-agent/streamer/clipboard/clipboard.h"
#include "instance-agent/streamer/peer/peer.h"
#include "instance-agent/streamer/threads/event_queue.h"

namespace svc::streamer {

// Makes the guest's clipboard. Null: the guest has none.
using MakeClipboard = std::function<std::unique_ptr<Clipboard>(ClipboardEvents events)>;

// Used on the queue's thread alone. Messages of the client never make it throw.
class ClipboardChannel {
  public:
    static constexpr std::size_t chunk = 16U << 10;        // bytes of a message to the client
    static constexpr std::size_t max_buffered = 1U << 20;  // bytes in the channel of the peer
    static constexpr std::size_t ack_every = 256U << 10;   // bytes of the client
    static constexpr std::chrono::milliseconds buffer_check{20};
    using FindPeer = std::function<Peer*()>;  // null: no client

    ClipboardChannel(EventQueue& queue, FindPeer peer, const MakeClipboard& make);

    bool exists() const { return clipboard_ != nullptr; }  // the guest has a clipboard
    void allow(const Permissions& permissions);
    void opened();
    void closed();
    void control_lost();  // tells the client, which only watches from now on
    void take(bool binary, const std::string& data);

  private:
    struct Incoming {
        ClipboardFormat format = ClipboardFormat::text;
        std::size_t size = 0, acked = 0;
        std::string data{};
    };
    void take_message(const JsonFields& message);
    void begin_paste(const JsonFields& message);
    void take_bytes(const std::string& data);
    void complete();
    void refuse(const std::string& why);
    void follow();
    void copied(ClipboardContent content);
    void begin_next();
    void send_more();
    void tell(const Json& message);
    void tell_allowed();

    EventQueue& queue_;
    FindPeer peer_;
    Permissions permissions_;
    bool open_ = false, wants_copies_ = false;
    std::optional<Incoming> incoming_;
    std::optional<ClipboardContent> outgoing_, next_;  // sent to the client; newer than that
    std::size_t sent_ = 0;                             // bytes of outgoing_
    bool checks_ = false;                              // a later attempt is scheduled
    std::unique_ptr<Clipboard> clipboard_;             // last: its thread uses the queue
};

}  // namespace svc::streamer
