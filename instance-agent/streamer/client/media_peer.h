#pragma once
// A client's connection as the rest of the streamer sees it; tests put their own behind it.
#include <functional>
#include <memory>

#include "instance-agent/streamer/client/peer.h"

namespace svc::streamer {

// What Peer is (peer.h), thread-safe like it.
class MediaPeer {
  public:
    virtual ~MediaPeer() = default;
    virtual void set_answer(const std::string& sdp) = 0;
    virtual void add_candidate(const std::string& candidate, unsigned media_line) = 0;
    virtual bool send(const std::string& label, bool binary, std::string_view data) = 0;
    virtual std::size_t buffered(const std::string& label) const = 0;
    virtual void set_bitrates(BitrateLimits bitrates) = 0;
    virtual void set_camera_sink(int width, int height, int fps, Peer::FrameSink sink) = 0;
    virtual PeerStats stats() const = 0;
    virtual void end() = 0;
};

// Throws what Peer's constructor throws. The events outlive the peer.
using PeerFactory = std::function<std::unique_ptr<MediaPeer>(PeerSetup setup, PeerEvents& events)>;

std::unique_ptr<MediaPeer> make_media_peer(PeerSetup setup, PeerEvents& events);  // the real one

}  // namespace svc::streamer
