#pragma once
// A client that no packet reaches: its pictures, its sound and its control channel go through the gateway,
// over a WebSocket of their own (docs/streaming.md, Media through the gateway).
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "instance-agent/streamer/client/gateway_link.h"
#include "instance-agent/streamer/client/sound_queue.h"
#include "instance-agent/streamer/peer/encoded_video.h"
#include "instance-agent/streamer/peer/microphone_feed.h"

namespace svc::streamer {

class SocketPeer final : public Peer {
  public:
    static constexpr std::size_t most_frames = 8;    // that wait; with more all are dropped
    static constexpr std::size_t piece = 16U << 10;  // bytes of a frame in one message; sound goes between
    static constexpr std::size_t most_texts = 1U << 20;  // bytes of messages that wait
    static constexpr std::chrono::seconds rest{2};       // until a client that was behind gets a key frame
    static constexpr std::chrono::seconds calm{5};       // without falling behind, until the bit rate rises
    static constexpr std::chrono::seconds patience{10};  // of each step of connecting

    // Connects at once, on a thread of its own; `events` tell the rest. `codecs`: that there is an encoder
    // for.
    SocketPeer(PeerSetup setup, const std::string& client, const GatewayAddress& gateway,
               std::vector<VideoCodec> codecs, OpenVideo open_video, OpenSound open_sound,
               OpenMicrophone open_microphone, PeerEvents& events);
    ~SocketPeer() override;  // waits for no gateway: connecting is given up
    SocketPeer(const SocketPeer&) = delete;
    SocketPeer& operator=(const SocketPeer&) = delete;

    void set_answer(const std::string& sdp) override;  // throws invalid_argument: it made no offer
    void add_candidate(const std::string&, unsigned) override {}
    bool send(const std::string& label, bool binary, std::string_view data) override;
    std::size_t buffered(const std::string& label) const override;
    void set_bitrates(BitrateLimits bitrates) override;
    void set_watching(bool watches) override;
    void hide_screen() override;
    void show_screen(int width, int height) override;
    void set_camera_sink(int, int, int, FrameSink) override {}  // it has none
    PeerStats stats() const override;
    void end() override;

  private:
    using Moment = std::chrono::steady_clock::time_point;
    void run(const std::stop_token& stop);
    std::shared_ptr<WebSocketClient> connect(const std::stop_token& stop);
    void serve(WebSocketClient& socket);
    void take(const std::string& text);
    void begin(const std::string& text);
    void request_key_frame();
    void open_video();
    void open_sound();
    void take_microphone(std::string_view message);
    MicrophoneFeed* microphone();
    void take_sound(const SoundPacket& packet);
    void take_frame(const VideoFrame& frame);
    void fall_behind(Moment now);
    void adapt(Moment now);
    void catch_up(Moment now);
    void write(const std::stop_token& stop, WebSocketClient& socket);
    void send_frame(WebSocketClient& socket, const VideoFrame& frame);
    void send_sound(WebSocketClient& socket);
    StreamStats sound_stats() const;
    void shut_down();

    PeerSetup setup_;
    const std::string path_;
    const std::vector<Target> gateways_;
    const std::vector<VideoCodec> codecs_;
    const OpenVideo open_video_;
    const OpenSound open_sound_;
    const OpenMicrophone open_microphone_;
    PeerEvents& events_;

    mutable std::mutex
        video_mutex_;  // guards video_, sound_, microphone_, hidden_ and setup_; taken before mutex_
    std::shared_ptr<EncodedVideo> video_;
    std::unique_ptr<EncodedSound> sound_;
    std::unique_ptr<MicrophoneFeed> microphone_;
    bool hidden_ = false;       // the screen is about to change its size
    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable_any changed_;
    std::shared_ptr<WebSocketClient> socket_;
    std::deque<std::string> texts_;
    std::size_t text_bytes_ = 0;
    std::deque<VideoFrame> frames_;
    SoundQueue sounds_;
    bool waits_for_key_ = true, watches_ = false, writing_ = false, ending_ = false;
    std::optional<VideoCodec> codec_;  // nothing: the client has not begun
    Moment behind_{}, key_wanted_{},
        moved_{};  // moved_: the bit rate has, or there was a reason not to raise it
    std::uint64_t packets_ = 0, bytes_ = 0, sound_packets_ = 0, sound_bytes_ = 0;
    std::jthread thread_;  // last member: the thread uses the others
};

}  // namespace svc::streamer
