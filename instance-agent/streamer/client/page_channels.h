#pragma once
// The channels of a client beside `control` and its custom ones: each is there when the client opens it.
#include "instance-agent/streamer/client/clipboard_channel.h"
#include "instance-agent/streamer/client/file_channel.h"

namespace svc::streamer {

// Used on the queue's thread alone.
class PageChannels {
  public:
    // `folder`: for files of the client; "": none.
    PageChannels(EventQueue& queue, Clock& clock, const ClipboardChannel::FindPeer& peer,
                 const MakeClipboard& clipboard, const std::filesystem::path& folder);

    std::vector<std::string> capabilities() const;  // for clients: what they may open
    void allow(const Permissions& permissions);
    // False: the channel is none of these.
    bool opened(const std::string& label);
    bool closed(const std::string& label);
    bool take(const std::string& label, bool binary, const std::string& data);
    void client_gone();
    void control_lost();  // the client stays, but only watches

  private:
    ClipboardChannel clipboard_;
    FileChannel files_;
};

}  // namespace svc::streamer
