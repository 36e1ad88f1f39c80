#pragma once
// The whole of svc-streamer but for GStreamer: one thread that decides, and the links around it.
#include <memory>
#include <optional>

#include "instance-agent/streamer/client/control_channel.h"
#include "instance-agent/streamer/client/custom_channels.h"
#include "instance-agent/streamer/client/gateway_link.h"
#include "instance-agent/streamer/client/page_writer.h"
#include "instance-agent/streamer/client/signalling.h"
#include "instance-agent/streamer/display/screen.h"
#include "instance-agent/streamer/guest/agent_link.h"
#include "instance-agent/streamer/guest/camera_relay.h"
#include "instance-agent/streamer/guest/guest_wishes.h"
#include "instance-agent/streamer/guest/injected_data.h"
#include "instance-agent/streamer/input/client_input.h"
#include "instance-agent/streamer/metrics/rtc_log.h"
#include "instance-agent/streamer/sound/microphone_watch.h"
#include "instance-agent/streamer/start_data.h"

namespace svc::streamer {

struct StreamerParts {
    Options options;
    StreamStart start;
    InstanceFacts facts;
    std::vector<VideoCodec> codecs;
    std::unique_ptr<Screen> screen;
    std::unique_ptr<InputSink> input;
    PeerFactory make_peer;
};

// What the instance says of itself at the gateway first of all.
Json register_message(const StreamStart& start, const std::vector<VideoCodec>& codecs);

class Streamer final : private SignallingHost {
  public:
    static constexpr std::chrono::seconds metrics_interval{10};
    static constexpr std::size_t max_control_buffered = 8U << 20;  // of `control`; its client does not listen

    Streamer(StreamerParts parts, Clock& clock);
    ~Streamer() override;
    Streamer(const Streamer&) = delete;
    Streamer& operator=(const Streamer&) = delete;

    void run();   // until stop(), or until the gateway ends the session
    void stop();  // from any thread
    // The program ends at once, whatever its other threads do: the client is told. From any thread, and from
    // several at once.
    void display_lost();

  private:
    void to_gateway(const Json& message) override;
    void tell_client(const std::string& type, const Json& data) override;
    void show_screen(const ScreenWish& wish) override;
    PeerSetup peer_setup() override;
    bool is_automotive() const override { return automotive_; }
    void stream_began() override;
    void client_silent() override;
    void stream_ended() override;
    void peer_ended() override;
    void channel_opened(const std::string& label) override;
    void channel_closed(const std::string& label) override;
    void channel_message(const std::string& label, const std::string& data) override;
    void terminate(const std::string& reason) override;

    void register_at_gateway();
    void tell_stream();
    void attached(const Json& answer);
    void agent_event(const std::string& name, const Json& members);
    void take_items(const JsonFields& items);
    void from_gateway(const std::string& text);
    void end_of_patience();
    void sample(unsigned stream);
    void send_metrics();
    void end();
    void part();

    StreamerParts parts_;
    ScreenSize size_;
    bool automotive_ = false, log_rtc_ = false;
    bool parted_ = false;  // the client knows that the display is gone
    BitrateLimits bitrates_;
    unsigned stream_ = 0;  // its number: a sample that is due belongs to one
    Clock& clock_;
    EventQueue queue_;
    ClientInput client_input_;
    InjectedData injected_;
    ControlChannel control_;
    CameraRelay camera_;
    GuestWishes wishes_;
    std::unique_ptr<MetricsSender> metrics_;  // null: nobody wants any
    RtcLog rtc_log_;
    Signalling signalling_;
    PageWriter page_writer_;
    CustomChannels channels_;
    std::unique_ptr<MicrophoneWatch> microphone_;  // null: the guest has no sound
    AgentLink agent_;                              // these two begin to talk as soon as they are there: last
    GatewayLink gateway_;
};

}  // namespace svc::streamer
