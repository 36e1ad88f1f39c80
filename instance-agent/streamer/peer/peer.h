#pragma once
// One client's WebRTC connection: display and sound go out, camera and microphone come in, data channels go
// both ways (docs/streaming.md). media/ implements it with GStreamer; tests have a peer of their own.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/model/packages/video_encoder.h"

namespace svc::streamer {

enum class VideoCodec { h264, vp8, vp9, av1 };
std::string_view to_text(VideoCodec codec);  // "H264", "VP8", "VP9", "AV1"
// The same codecs: the preferred ones first, in their order.
std::vector<VideoCodec> preferred_first(std::vector<VideoCodec> codecs,
                                        const std::vector<VideoCodec>& preferred);

// Channels of a client that are no custom ones: names of those have no colon.
constexpr std::string_view control_label = "control", clipboard_label = "svc:clipboard",
                           files_label = "svc:files";

struct IceServer {
    std::vector<std::string> urls;
    std::string username, password;
};

// The client's `settings` message.
struct ClientSettings {
    bool speaker = true, microphone = false, video = true, camera = false;
    std::vector<std::string> data_channels;  // custom ones, at most 5
    std::vector<VideoCodec>
        preferred_codecs;  // known codecs that the client named; empty: the streamer's order
    static ClientSettings from_json(const JsonFields& fields);  // throws invalid_argument
};

struct BitrateLimits {
    std::uint32_t least_kbps = 0, most_kbps = 0;  // 0: the defaults for the size
};

// Counters of one outgoing stream since it began (specification: Streaming metrics).
struct StreamStats {
    std::string kind;  // "video", "audio"
    std::uint32_t ssrc = 0;
    std::string encoder{};  // of a video: the element that encodes it, "x264enc"
    bool gpu_encoder = false;
    std::uint64_t frames_encoded = 0, key_frames_encoded = 0;
    double total_encode_time = 0;  // seconds
    double target_bitrate = 0;     // bits per second
    std::uint64_t bytes_sent = 0, retransmitted_bytes_sent = 0, retransmitted_packets_sent = 0;
    double total_packet_send_delay = 0;  // seconds
    std::uint64_t packets_sent = 0, nack_count = 0, fir_count = 0, pli_count = 0, sli_count = 0;
};
struct PeerStats {
    std::vector<StreamStats> streams;
    bool relay_in_use = false;
};

// Events of a peer. Called on threads of the media library, never after ~Peer; must return soon.
class PeerEvents {
  public:
    virtual ~PeerEvents() = default;
    virtual void local_offer(const std::string& sdp) = 0;
    virtual void local_candidate(const std::string& candidate, unsigned media_line) = 0;
    virtual void connected() = 0;                        // ICE is connected: media flows
    virtual void failed(const std::string& reason) = 0;  // the connection could not be made, or broke
    virtual void left() = 0;                             // the client has closed the connection
    virtual void fell_silent() {}                        // the client may have vanished, or come back
    virtual void channel_opened(const std::string& label) = 0;
    virtual void channel_closed(const std::string& label) = 0;
    virtual void channel_message(const std::string& label, bool binary, std::string_view data) = 0;
};

class GuestDisplay;

// The sources of the guest's picture and sound, and the targets of the client's.
struct MediaPlaces {
    std::string display;       // X display ":0"; "": the two ways below of a guest without X
    std::string frame_socket;  // path; raw RGBA frames
    std::string audio_server;  // PulseAudio's socket; "": the guest has no sound, silence is sent
    std::shared_ptr<GuestDisplay> guest_display{};  // null: there is the frame socket alone
};

struct PeerSetup {
    ClientSettings settings;
    std::vector<IceServer> ice_servers;
    MediaPlaces places;
    int width = 1280, height = 720, fps = 60;
    BitrateLimits bitrates;
    VideoEncoder encoder = VideoEncoder::software;  // what may encode the display
    bool log_rtc = false;                           // the platform's item rtc_log
    bool watches = false;                           // as in Peer::set_watching()
};

// A connection that was made by a PeerFactory: it has begun to make its offer. Thread-safe. The destructor
// ends the connection and waits for it; no event comes afterwards.
class Peer {
  public:
    // One frame of the client's camera: RGBA, `size` bytes. Called on a thread of the media library.
    using FrameSink = std::function<void(const std::uint8_t* pixels, std::size_t size)>;

    virtual ~Peer() = default;
    // The client's answer to the offer. Throws invalid_argument: "answer has no codec in common", ...
    virtual void set_answer(const std::string& sdp) = 0;
    virtual void add_candidate(const std::string& candidate, unsigned media_line) = 0;  // at any time
    virtual bool send(const std::string& label, bool binary,
                      std::string_view data) = 0;                      // false: the channel is not open
    virtual std::size_t buffered(const std::string& label) const = 0;  // bytes that wait in the channel
    virtual void set_bitrates(BitrateLimits bitrates) = 0;
    // Whether the client only watches: then the bit rate does not follow its connection, and while that is
    // too slow, it gets no pictures.
    virtual void set_watching(bool watches) = 0;
    // Asks for the client's camera as frames of this size, until it is called with an empty function. Nothing
    // comes when the client sends no camera.
    virtual void set_camera_sink(int width, int height, int fps, FrameSink sink) = 0;
    // The screen is about to change its size: its capture ends. Then, in which size it goes on.
    virtual void hide_screen() = 0;
    virtual void show_screen(int width, int height) = 0;
    virtual PeerStats stats() const = 0;
    // Sends what waits, then closes the connection so that the client learns it at once. No event comes
    // afterwards.
    virtual void end() = 0;
};

// Makes a peer and starts it. Throws unsupported: there is no encoder for what the client can decode. The
// events outlive the peer.
using PeerFactory = std::function<std::unique_ptr<Peer>(PeerSetup setup, PeerEvents& events)>;

}  // namespace svc::streamer
