#include "instance-agent/streamer/client/peer.h"

#include "instance-agent/streamer/media/peer/peer_session.h"

namespace svc::streamer {

// The library's threads may hold the session a moment longer than the peer lives; closed, it tells nothing.
class Peer::Implementation {
  public:
    Implementation(PeerSetup setup, PeerEvents& events)
        : session(std::make_shared<PeerSession>(std::move(setup), events)) {
        try {
            session->start();
        } catch (...) {
            session->close();
            throw;
        }
    }
    ~Implementation() { session->close(); }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    std::shared_ptr<PeerSession> session;
};

Peer::Peer(PeerSetup setup, PeerEvents& events)
    : implementation_(std::make_unique<Implementation>(std::move(setup), events)) {}

Peer::~Peer() = default;

void Peer::set_answer(const std::string& sdp) {
    implementation_->session->set_answer(sdp);
}

void Peer::add_candidate(const std::string& candidate, unsigned media_line) {
    implementation_->session->negotiation().add_candidate(candidate, media_line);
}

bool Peer::send(const std::string& label, bool binary, std::string_view data) {
    return implementation_->session->channels().send(label, binary, data);
}

std::size_t Peer::buffered(const std::string& label) const {
    return implementation_->session->channels().buffered(label);
}

void Peer::request_key_frame() {
    implementation_->session->request_key_frame();
}

void Peer::set_bitrates(BitrateLimits bitrates) {
    implementation_->session->set_bitrates(bitrates);
}

void Peer::set_camera_sink(int width, int height, int fps, FrameSink sink) {
    implementation_->session->camera().set({width, height, fps, std::move(sink)});
}

PeerStats Peer::stats() const {
    return implementation_->session->stats();
}

void Peer::end() {
    implementation_->session->say_goodbye();
}

}  // namespace svc::streamer
