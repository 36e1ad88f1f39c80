#pragma once
// The display as encoded frames, for a peer that brings them to the client by itself. media/ implements it.
#include <functional>
#include <memory>
#include <string>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

struct VideoFrame {
    bool key_frame = false;
    std::int64_t time = 0;                     // microseconds, since some moment
    std::shared_ptr<const std::string> bytes;  // H.264: an access unit in byte-stream form (annex B)
};

// Called on a thread of the encoder; must not block.
struct VideoListener {
    std::function<void(const VideoFrame&)> frame;
    std::function<void(const std::string& reason)> failed;
};

// Thread-safe. No call comes after its destructor, which must not run on the encoder's thread.
class EncodedVideo {
  public:
    virtual ~EncodedVideo() = default;
    virtual void request_key_frame() = 0;
    virtual void set_kbps(std::uint32_t kbps) = 0;  // of all who share the encoder
    virtual std::uint32_t kbps() const = 0;
    virtual void add_to(StreamStats& stats) const = 0;
};

// A key frame comes first. Throws unsupported, unavailable.
using OpenVideo = std::function<std::unique_ptr<EncodedVideo>(const PeerSetup& setup, VideoCodec codec,
                                                              VideoListener listener)>;

}  // namespace svc::streamer
