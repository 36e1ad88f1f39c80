#include "instance-agent/streamer/peer/queued_peer_events.h"

namespace svc::streamer {

namespace {
constexpr std::size_t message_overhead = 256;  // so that many empty messages count too
}

// `call` gets this object, on the queue's thread, unless it is gone by then.
template <class Call>
void QueuedPeerEvents::post(Call call) {
    queue_.post([held = weak_from_this(), call = std::move(call)] {
        if (const auto self = held.lock()) call(*self);
    });
}

void QueuedPeerEvents::local_offer(const std::string& sdp) {
    post([sdp](QueuedPeerEvents& self) { self.target_.local_offer(sdp); });
}

void QueuedPeerEvents::local_candidate(const std::string& candidate, unsigned media_line) {
    post([candidate, media_line](QueuedPeerEvents& self) {
        self.target_.local_candidate(candidate, media_line);
    });
}

void QueuedPeerEvents::connected() {
    post([](QueuedPeerEvents& self) { self.target_.connected(); });
}

void QueuedPeerEvents::failed(const std::string& reason) {
    post([reason](QueuedPeerEvents& self) { self.target_.failed(reason); });
}

void QueuedPeerEvents::left() {
    post([](QueuedPeerEvents& self) { self.target_.left(); });
}

void QueuedPeerEvents::fell_silent() {
    post([](QueuedPeerEvents& self) { self.target_.fell_silent(); });
}

void QueuedPeerEvents::channel_opened(const std::string& label) {
    post([label](QueuedPeerEvents& self) { self.target_.channel_opened(label); });
}

void QueuedPeerEvents::channel_closed(const std::string& label) {
    post([label](QueuedPeerEvents& self) { self.target_.channel_closed(label); });
}

void QueuedPeerEvents::channel_message(const std::string& label, bool binary, std::string_view data) {
    const std::size_t size = data.size() + message_overhead;
    if (waiting_ + size > max_waiting) return;
    waiting_ += size;
    post([label, binary, size, text = std::string(data)](QueuedPeerEvents& self) {
        self.waiting_ -= size;
        self.target_.channel_message(label, binary, text);
    });
}

}  // namespace svc::streamer
