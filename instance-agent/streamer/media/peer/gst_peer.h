#pragma once
// A peer by GStreamer's webrtcbin.
#include "instance-agent/streamer/media/video/display_encoders.h"
#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

class PeerSession;

class GstPeer final : public Peer {
  public:
    // Starts the session, which makes the offer. Throws unsupported. start_media() was called before.
    // `encoders` are shared by the peers of an instance.
    GstPeer(PeerSetup setup, PeerEvents& events,
            std::shared_ptr<DisplayEncoders> encoders = std::make_shared<DisplayEncoders>());
    ~GstPeer() override;
    GstPeer(const GstPeer&) = delete;
    GstPeer& operator=(const GstPeer&) = delete;

    void set_answer(const std::string& sdp) override;
    void add_candidate(const std::string& candidate, unsigned media_line) override;
    bool send(const std::string& label, bool binary, std::string_view data) override;
    std::size_t buffered(const std::string& label) const override;
    void set_bitrates(BitrateLimits bitrates) override;
    void set_watching(bool watches) override;
    void set_camera_sink(int width, int height, int fps, FrameSink sink) override;
    void hide_screen() override;
    void show_screen(int width, int height) override;
    PeerStats stats() const override;
    void end() override;
    void request_key_frame();

  private:
    // Threads of GStreamer may hold the session a moment longer than the peer lives. A closed session tells
    // nothing.
    std::shared_ptr<PeerSession> session_;
};

}  // namespace svc::streamer
