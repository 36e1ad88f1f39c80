#pragma once
// The channels of a client beside `control` and its custom ones: each is there when the client opens it.
#include "instance-agent/streamer/client/clipboard_channel.h"

namespace svc::streamer {

// Used on the queue's thread alone.
class PageChannels {
  public:
    PageChannels(EventQueue& queue, const ClipboardChannel::FindPeer& peer, const MakeClipboard& clipboard);

    std::vector<std::string> capabilities() const;  // for clients: what they may open
    void allow(const Permissions& permissions);
    // False: the channel is none of these.
    bool opened(const std::string& label);
    bool closed(const std::string& label);
    bool take(const std::string& label, bool binary, const std::string& data);
    void client_gone();

  private:
    ClipboardChannel clipboard_;
};

}  // namespace svc::streamer
