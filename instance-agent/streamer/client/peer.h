#pragma once
// One client's WebRTC connection: display and sound go out, camera and microphone come in, data channels go
// both ways (facts 3.7, 3.8). GStreamer stays inside media/.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::streamer {

enum class VideoCodec { h264, vp8 };
std::string_view to_text(VideoCodec codec);  // "H264", "VP8"

struct IceServer {
    std::vector<std::string> urls;
    std::string username, password;
};

// Of the client's `settings` message.
struct ClientSettings {
    bool speaker = true, microphone = false, video = true, camera = false;
    std::vector<std::string> data_channels;    // custom ones, at most 5
    std::vector<VideoCodec> preferred_codecs;  // those we know of what the client named; empty: ours
    static ClientSettings from_json(const JsonFields& fields);  // throws invalid_argument
};

struct BitrateLimits {
    std::uint32_t least_kbps = 0, most_kbps = 0;  // 0: the defaults of the size
};

// Counters of one outgoing stream since it began (specification: Streaming metrics).
struct StreamStats {
    std::string kind;  // "video", "audio"
    std::uint32_t ssrc = 0;
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

// What a peer tells. Called on threads of the media library, never after ~Peer; must return soon.
class PeerEvents {
  public:
    virtual ~PeerEvents() = default;
    virtual void local_offer(const std::string& sdp) = 0;
    virtual void local_candidate(const std::string& candidate, unsigned media_line) = 0;
    virtual void connected() = 0;                        // ICE is: media flows
    virtual void failed(const std::string& reason) = 0;  // it will not work, or not any more
    virtual void left() = 0;                             // the client has closed it
    virtual void fell_silent() {}                        // the client may have vanished, or come back
    virtual void channel_opened(const std::string& label) = 0;
    virtual void channel_closed(const std::string& label) = 0;
    virtual void channel_message(const std::string& label, bool binary, std::string_view data) = 0;
};

// Where the guest's picture and sound come from and where the client's go.
struct MediaPlaces {
    std::string display;       // X display ":0"; "": frames come by the frame socket
    std::string frame_socket;  // path; raw RGBA frames of guests without X
    std::string audio_server;  // PulseAudio's socket; "": the guest has no sound, silence is sent
};

struct PeerSetup {
    ClientSettings settings;
    std::vector<IceServer> ice_servers;
    MediaPlaces places;
    int width = 1280, height = 720, fps = 60;
    BitrateLimits bitrates;
    bool log_rtc = false;  // the platform's item rtc_log
};

// Thread-safe. The constructor starts and makes the offer; the destructor ends all and waits for it.
class Peer {
  public:
    Peer(PeerSetup setup,
         PeerEvents& events);  // throws unsupported: no encoder for what the client can decode
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void set_answer(const std::string& sdp);  // throws invalid_argument: "answer has no codec in common", ...
    void add_candidate(const std::string& candidate, unsigned media_line);  // early ones wait for the answer
    bool send(const std::string& label, bool binary, std::string_view data);  // false: no such open channel
    std::size_t buffered(const std::string& label) const;  // bytes that wait in the channel
    void request_key_frame();
    void set_bitrates(BitrateLimits bitrates);
    // The client's camera as RGBA frames of this size, on a thread of the media library, until reset with an
    // empty function. Nothing comes when the client sends no camera.
    using FrameSink = std::function<void(const std::uint8_t* pixels, std::size_t size)>;
    void set_camera_sink(int width, int height, int fps, FrameSink sink);
    PeerStats stats() const;
    // The client learns at once that it is over, after what was sent to it. Nothing is told any more.
    void end();

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

// Once, before any peer. What this machine can do: the codecs there is an encoder for, best first.
std::vector<VideoCodec> start_media();

}  // namespace svc::streamer
