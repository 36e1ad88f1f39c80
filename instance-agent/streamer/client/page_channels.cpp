#include "instance-agent/streamer/client/page_channels.h"

namespace svc::streamer {

PageChannels::PageChannels(EventQueue& queue, const ClipboardChannel::FindPeer& peer,
                           const MakeClipboard& clipboard)
    : clipboard_(queue, peer, clipboard) {}

std::vector<std::string> PageChannels::capabilities() const {
    std::vector<std::string> names;
    if (clipboard_.exists()) names.emplace_back("clipboard");
    return names;
}

void PageChannels::allow(const Permissions& permissions) {
    clipboard_.allow(permissions);
}

bool PageChannels::opened(const std::string& label) {
    if (label != clipboard_label) return false;
    clipboard_.opened();
    return true;
}

bool PageChannels::closed(const std::string& label) {
    if (label != clipboard_label) return false;
    clipboard_.closed();
    return true;
}

bool PageChannels::take(const std::string& label, bool binary, const std::string& data) {
    if (label != clipboard_label) return false;
    clipboard_.take(binary, data);
    return true;
}

void PageChannels::client_gone() {
    clipboard_.closed();
}

}  // namespace svc::streamer
