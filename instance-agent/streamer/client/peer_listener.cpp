#include "instance-agent/streamer/client/peer_listener.h"

namespace svc::streamer {

namespace {
constexpr std::size_t message_overhead = 256;  // so that many empty messages count too
}

void PeerListener::local_offer(const std::string& sdp) {
    queue_.post([&news = news_, peer = peer_, sdp] { news.on_offer(peer, sdp); });
}

void PeerListener::local_candidate(const std::string& candidate, unsigned media_line) {
    queue_.post([&news = news_, peer = peer_, candidate, media_line] {
        news.on_candidate(peer, candidate, media_line);
    });
}

void PeerListener::connected() {
    queue_.post([&news = news_, peer = peer_] { news.on_connected(peer); });
}

void PeerListener::failed(const std::string& reason) {
    queue_.post([&news = news_, peer = peer_, reason] { news.on_failed(peer, reason); });
}

void PeerListener::left() {
    queue_.post([&news = news_, peer = peer_] { news.on_left(peer); });
}

void PeerListener::fell_silent() {
    queue_.post([&news = news_, peer = peer_] { news.on_silent(peer); });
}

void PeerListener::channel_opened(const std::string& label) {
    queue_.post([&news = news_, peer = peer_, label] { news.on_channel_opened(peer, label); });
}

void PeerListener::channel_closed(const std::string& label) {
    queue_.post([&news = news_, peer = peer_, label] { news.on_channel_closed(peer, label); });
}

void PeerListener::channel_message(const std::string& label, bool, std::string_view data) {
    const std::size_t size = data.size() + message_overhead;
    if (waiting_->load() + size > max_waiting) return;
    *waiting_ += size;
    queue_.post([&news = news_, peer = peer_, label, size, waiting = waiting_, text = std::string(data)] {
        *waiting -= size;
        news.on_channel_message(peer, label, text);
    });
}

}  // namespace svc::streamer
