#include "instance-agent/streamer/client/page_writer.h"

#include <utility>

namespace svc::streamer {

PageWriter::PageWriter(EventQueue& queue, FindPeer peer, Taken taken)
    : queue_(queue), peer_(std::move(peer)), taken_(std::move(taken)) {}

void PageWriter::write(const std::string& channel, std::string data) {
    Line& line = lines_[channel];
    line.waiting.push_back(std::move(data));
    if (!line.checks) send_waiting(channel);
}

void PageWriter::send_waiting(const std::string& channel) {
    Line& line = lines_[channel];
    while (!line.waiting.empty()) {
        Peer* const peer = peer_();
        if (peer != nullptr && peer->buffered(channel) > max_buffered) return check_later(channel);
        const std::string data = std::move(line.waiting.front());
        line.waiting.pop_front();
        if (peer != nullptr) peer->send(channel, true, data);
        taken_(channel, data.size());
    }
}

void PageWriter::check_later(const std::string& channel) {
    lines_[channel].checks = true;
    queue_.after(buffer_check, [this, channel] {
        lines_[channel].checks = false;
        send_waiting(channel);
    });
}

void PageWriter::forget(const std::string& channel) {
    if (const auto line = lines_.find(channel); line != lines_.end()) line->second.waiting.clear();
}

void PageWriter::forget_all() {
    for (auto& [channel, line] : lines_) line.waiting.clear();
}

}  // namespace svc::streamer
