#include "instance-agent/streamer/media/peer/gst_peer.h"

#include "instance-agent/streamer/media/peer/peer_session.h"

namespace svc::streamer {

GstPeer::GstPeer(PeerSetup setup, PeerEvents& events, std::shared_ptr<DisplayEncoders> encoders)
    : session_(std::make_shared<PeerSession>(std::move(setup), events, std::move(encoders))) {
    try {
        session_->start();
    } catch (...) {
        session_->close();
        throw;
    }
}

GstPeer::~GstPeer() {
    session_->close();
}

void GstPeer::set_answer(const std::string& sdp) {
    session_->set_answer(sdp);
}

void GstPeer::add_candidate(const std::string& candidate, unsigned media_line) {
    session_->negotiation().add_candidate(candidate, media_line);
}

bool GstPeer::send(const std::string& label, bool binary, std::string_view data) {
    return session_->channels().send(label, binary, data);
}

std::size_t GstPeer::buffered(const std::string& label) const {
    return session_->channels().buffered(label);
}

void GstPeer::set_bitrates(BitrateLimits bitrates) {
    session_->set_bitrates(bitrates);
}

void GstPeer::set_watching(bool watches) {
    session_->set_watching(watches);
}

void GstPeer::set_camera_sink(int width, int height, int fps, FrameSink sink) {
    session_->camera().set({width, height, fps, std::move(sink)});
}

void GstPeer::hide_screen() {
    session_->hide_screen();
}

void GstPeer::show_screen(int width, int height) {
    session_->show_screen(width, height);
}

PeerStats GstPeer::stats() const {
    return session_->stats();
}

void GstPeer::end() {
    session_->say_goodbye();
}

void GstPeer::request_key_frame() {
    session_->request_key_frame();
}

}  // namespace svc::streamer
