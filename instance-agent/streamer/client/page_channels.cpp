#include "instance-agent/streamer/client/page_channels.h"

namespace svc::streamer {

PageChannels::PageChannels(EventQueue& queue, Clock& clock, const ClipboardChannel::FindPeer& peer,
                           const MakeClipboard& clipboard, const std::filesystem::path& folder)
    : clipboard_(queue, peer, clipboard), files_(queue, peer, folder, clock) {}

std::vector<std::string> PageChannels::capabilities() const {
    std::vector<std::string> names;
    if (clipboard_.exists()) names.emplace_back("clipboard");
    if (files_.exists()) names.emplace_back("files");
    return names;
}

void PageChannels::allow(const Permissions& permissions) {
    clipboard_.allow(permissions);
    files_.allow(permissions);
}

bool PageChannels::opened(const std::string& label) {
    if (label == clipboard_label) return clipboard_.opened(), true;
    if (label == files_label) return files_.opened(), true;
    return false;
}

bool PageChannels::closed(const std::string& label) {
    if (label == clipboard_label) return clipboard_.closed(), true;
    if (label == files_label) return files_.closed(), true;
    return false;
}

bool PageChannels::take(const std::string& label, bool binary, const std::string& data) {
    if (label == clipboard_label) return clipboard_.take(binary, data), true;
    if (label == files_label) return files_.take(binary, data), true;
    return false;
}

void PageChannels::control_lost() {
    clipboard_.control_lost();
    files_.control_lost();
}

void PageChannels::client_gone() {
    clipboard_.closed();
    files_.closed();
}

}  // namespace svc::streamer
