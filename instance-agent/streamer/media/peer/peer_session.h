#pragma once
// One connection from its offer to its end: owns the pipeline, handles its signals, and adapts bitrates while
// it runs.
#include <gst/gst.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "instance-agent/streamer/media/meters/congestion.h"
#include "instance-agent/streamer/media/meters/rtcp_meter.h"
#include "instance-agent/streamer/media/peer/data_channels.h"
#include "instance-agent/streamer/media/peer/negotiation.h"
#include "instance-agent/streamer/media/peer/peer_pipeline.h"
#include "instance-agent/streamer/media/video/camera_in.h"
#include "instance-agent/streamer/media/video/display_encoders.h"
#include "instance-agent/streamer/media/video/display_out.h"
#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

// Thread-safe after start().
class PeerSession : public std::enable_shared_from_this<PeerSession> {
  public:
    PeerSession(PeerSetup setup, PeerEvents& events, std::shared_ptr<DisplayEncoders> encoders);
    ~PeerSession();
    PeerSession(const PeerSession&) = delete;
    PeerSession& operator=(const PeerSession&) = delete;

    void start();        // throws unsupported
    void say_goodbye();  // closes the connection at the client; no event comes afterwards
    void close();        // ends the session

    void set_answer(const std::string& sdp);  // throws invalid_argument; unavailable: no display
    Negotiation& negotiation() { return *negotiation_; }
    DataChannels& channels() { return *channels_; }
    CameraIn& camera() { return *camera_; }
    void request_key_frame();
    void set_bitrates(BitrateLimits limits);
    void set_watching(bool watches);
    void hide_screen();
    void show_screen(int width, int height);
    PeerStats stats() const;

  private:
    void send_display(VideoCodec codec);
    std::shared_ptr<DisplayEncoder> find_encoder_for(VideoCodec codec, std::uint32_t kbps);
    std::unique_ptr<DisplayOut> make_display(VideoCodec codec, std::uint32_t kbps);
    void watch();
    void run_ticks(const std::stop_token& stop);
    void repeat_beginning();
    void heed_limits();
    void adapt();
    void use_target(std::uint32_t before);
    bool is_silent();
    void look_for_relay();
    void connection_moved();
    void fail(const std::string& reason);
    void client_left();
    bool is_over();
    void receive(GstPad* pad);
    void log_rtc(const std::string& what, const std::string& value) const;

    static void on_state(GstElement*, GParamSpec*, gpointer data);
    static void on_pad(GstElement*, GstPad* pad, gpointer data);
    static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer data);

    PeerSetup setup_;
    const std::shared_ptr<DisplayEncoders> encoders_;
    std::atomic<bool> watches_;  // it does not decide about the bit rate
    std::shared_ptr<EventGate> gate_;
    std::shared_ptr<RtcpMeter> feedback_ = std::make_shared<RtcpMeter>();
    std::shared_ptr<SendMeters> meters_ = std::make_shared<SendMeters>();
    std::unique_ptr<PeerPipeline> pipeline_;
    std::unique_ptr<DisplayOut> display_;
    VideoCodec codec_ = VideoCodec::h264;  // of display_
    Ref<GstElement> microphone_gate_;
    std::shared_ptr<CameraIn> camera_ = std::make_shared<CameraIn>();
    std::shared_ptr<DataChannels> channels_;
    std::shared_ptr<Negotiation> negotiation_;

    std::atomic<bool> latency_changed_ = true, parting_ = false;
    std::atomic<GstElement*> display_bin_ = nullptr;  // the bin of display_, while it is in the pipeline

    mutable std::mutex mutex_;  // guards the members below
    bool closing_ = false, connected_ = false, failed_ = false;
    Congestion congestion_;
    bool relay_in_use_ = false;
    std::uint64_t reports_heard_ = 0;
    int silent_ticks_ = 0, early_ticks_ = 0;
    bool woken_ = false, begun_ = false;
    std::condition_variable_any tick_;
    std::jthread ticker_;
};

}  // namespace svc::streamer
