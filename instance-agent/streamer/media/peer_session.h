#pragma once
// The pipeline of one peer: webrtcbin in the middle, what is sent before it, what comes behind it.
#include <gst/gst.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "instance-agent/streamer/media/camera_in.h"
#include "instance-agent/streamer/media/congestion.h"
#include "instance-agent/streamer/media/data_channels.h"
#include "instance-agent/streamer/media/display_out.h"
#include "instance-agent/streamer/media/negotiation.h"
#include "instance-agent/streamer/media/probes.h"
#include "instance-agent/streamer/media/rtcp_meter.h"
#include "instance-agent/streamer/peer.h"

namespace svc::streamer {

// Thread-safe after start(). close() ends it all; nothing is told after that.
class PeerSession : public std::enable_shared_from_this<PeerSession> {
  public:
    PeerSession(PeerSetup setup, PeerEvents& events);
    ~PeerSession();
    PeerSession(const PeerSession&) = delete;
    PeerSession& operator=(const PeerSession&) = delete;

    void start();  // throws unsupported
    void close();

    void set_answer(const std::string& sdp);  // throws invalid_argument; unavailable: no display
    Negotiation& negotiation() { return *negotiation_; }
    DataChannels& channels() { return *channels_; }
    CameraIn& camera() { return *camera_; }
    void request_key_frame();
    void set_bitrates(BitrateLimits limits);
    PeerStats stats() const;

  private:
    void build();
    void set_ice_servers();
    void add_sound();
    void add_camera();
    void offer_display();
    void send_display(VideoCodec codec);
    void add_channels();
    Ref<GstPad> offer_to_send(const std::string& caps, int direction, bool resend);
    void send_through(GstElement* bin, GstPad* sink);
    void watch();
    void run_ticks(const std::stop_token& stop);
    void repeat_beginning();
    void adapt();
    bool is_silent();
    void look_for_relay();
    void connection_moved();
    void fail(const std::string& reason);
    void receive(GstPad* pad);
    void log_rtc(const std::string& what, const std::string& value) const;

    static void on_state(GstElement*, GParamSpec*, gpointer data);
    static void on_pad(GstElement*, GstPad* pad, gpointer data);
    static void on_element(GstBin*, GstBin*, GstElement* element, gpointer data);
    static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer data);

    PeerSetup setup_;
    std::shared_ptr<EventGate> gate_;
    Ref<GstElement> pipeline_, webrtc_;
    Offered offered_;
    Ref<GstPad> display_sink_;
    std::shared_ptr<RtcpMeter> feedback_ = std::make_shared<RtcpMeter>();
    std::shared_ptr<SendMeters> meters_ = std::make_shared<SendMeters>();
    std::unique_ptr<DisplayOut> display_;
    std::shared_ptr<CameraIn> camera_ = std::make_shared<CameraIn>();
    std::shared_ptr<DataChannels> channels_;
    std::shared_ptr<Negotiation> negotiation_;

    std::atomic<bool> latency_changed_ = true;
    std::atomic<GstElement*> display_bin_ = nullptr;  // of display_, while the pipeline has it

    mutable std::mutex mutex_;  // of what follows
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
