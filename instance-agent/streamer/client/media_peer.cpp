#include "instance-agent/streamer/client/media_peer.h"

namespace svc::streamer {

namespace {

class RealPeer final : public MediaPeer {
  public:
    RealPeer(PeerSetup setup, PeerEvents& events) : peer_(std::move(setup), events) {}

    void set_answer(const std::string& sdp) override { peer_.set_answer(sdp); }
    void add_candidate(const std::string& candidate, unsigned media_line) override {
        peer_.add_candidate(candidate, media_line);
    }
    bool send(const std::string& label, bool binary, std::string_view data) override {
        return peer_.send(label, binary, data);
    }
    std::size_t buffered(const std::string& label) const override { return peer_.buffered(label); }
    void set_bitrates(BitrateLimits bitrates) override { peer_.set_bitrates(bitrates); }
    void set_camera_sink(int width, int height, int fps, Peer::FrameSink sink) override {
        peer_.set_camera_sink(width, height, fps, std::move(sink));
    }
    PeerStats stats() const override { return peer_.stats(); }
    void end() override { peer_.end(); }

  private:
    Peer peer_;
};

}  // namespace

std::unique_ptr<MediaPeer> make_media_peer(PeerSetup setup, PeerEvents& events) {
    return std::make_unique<RealPeer>(std::move(setup), events);
}

}  // namespace svc::streamer
