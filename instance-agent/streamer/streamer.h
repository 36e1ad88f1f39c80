#pragma once
// svc-streamer without GStreamer: one thread takes all decisions; links to gateway, agent and client feed it
// through a queue.
#include <memory>
#include <optional>

#include "instance-agent/streamer/capture/capture_socket.h"
#include "instance-agent/streamer/client/audience.h"
#include "instance-agent/streamer/client/control_channel.h"
#include "instance-agent/streamer/client/custom_channels.h"
#include "instance-agent/streamer/client/gateway_link.h"
#include "instance-agent/streamer/client/page_channels.h"
#include "instance-agent/streamer/client/page_writer.h"
#include "instance-agent/streamer/client/screen_resizes.h"
#include "instance-agent/streamer/display/screen.h"
#include "instance-agent/streamer/guest/agent_link.h"
#include "instance-agent/streamer/guest/camera_relay.h"
#include "instance-agent/streamer/guest/guest_wishes.h"
#include "instance-agent/streamer/guest/injected_data.h"
#include "instance-agent/streamer/input/client_input.h"
#include "instance-agent/streamer/metrics/rtc_log.h"
#include "instance-agent/streamer/peer/encoded_sound.h"
#include "instance-agent/streamer/peer/encoded_video.h"
#include "instance-agent/streamer/peer/microphone_feed.h"
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
    Captures captures;
    std::shared_ptr<GuestDisplay> guest_display{};  // of guests without X
    OpenVideo open_video{};                         // for media through the gateway; null: none goes there
    OpenSound open_sound{};                         // likewise; null: it has no sound
    OpenMicrophone open_microphone{};               // likewise; null: it takes none
    MakeClipboard make_clipboard{};                 // empty: the guest has none
};

// The first message to the gateway: describes the instance.
Json register_message(const StreamStart& start, const std::vector<VideoCodec>& codecs,
                      bool sends_media = false);

class Streamer final : private SignallingHost {
  public:
    static constexpr std::chrono::seconds metrics_interval{10};
    static constexpr std::size_t max_control_buffered =
        8U << 20;  // bytes in `control`; beyond it the client does not read

    Streamer(StreamerParts parts, Clock& clock);
    ~Streamer() override;
    Streamer(const Streamer&) = delete;
    Streamer& operator=(const Streamer&) = delete;

    void run();   // returns after stop(), or when the gateway ends the session
    void stop();  // from any thread
    // Tells the client that the display is lost; the program ends right afterwards. From any thread, and from
    // several at once.
    void display_lost();

  private:
    void to_gateway(const Json& message) override;
    void tell_client(const std::string& type, const Json& data) override;
    void show_screen(const ScreenWish& wish) override;
    PeerSetup peer_setup() override;
    std::vector<std::string> capabilities() const override;
    void stream_began() override;
    void client_silent() override;
    void stream_ended() override;
    void peer_ended() override;
    void control_lost() override;
    void channel_opened(const std::string& label) override;
    void channel_closed(const std::string& label) override;
    void channel_message(const std::string& label, bool binary, const std::string& data) override;
    void terminate(const std::string& reason) override;

    void resize(const ScreenWish& wish);
    MediaPlaces places() const;
    void change_size(const ScreenSize& size);
    void register_at_gateway();
    std::string video_encoder();
    void tell_stream();
    void attached(const Json& answer);
    void agent_event(const std::string& name, const Json& members);
    void take_items(const JsonFields& items);
    void from_gateway(const std::string& text);
    void end_of_patience();
    void sample(unsigned stream);
    void send_metrics();
    void send_metrics_of(const Peer& peer);
    void end();
    void part();

    StreamerParts parts_;
    ScreenSize size_;
    int density_ = 0;  // 0: nobody has set one
    bool automotive_ = false, log_rtc_ = false;
    bool parted_ = false;  // the client was told that the display is gone
    BitrateLimits bitrates_;
    unsigned stream_ = 0;  // counts streams: a scheduled sample belongs to one
    Clock& clock_;
    EventQueue queue_;
    ClientInput client_input_;
    InjectedData injected_;
    ScreenResizes resizes_;
    ControlChannel control_;
    CameraRelay camera_;
    GuestWishes wishes_;
    std::unique_ptr<MetricsSender> metrics_;  // null: no metrics server
    RtcLog rtc_log_;
    Audience audience_;
    PageWriter page_writer_;
    CustomChannels channels_;
    PageChannels page_channels_;
    std::unique_ptr<MicrophoneWatch> microphone_;  // null: the guest has no sound
    std::unique_ptr<CaptureSocket> captures_;      // null: it cannot listen
    AgentLink agent_;  // last members: both links start threads that use the others
    GatewayLink gateway_;
};

}  // namespace svc::streamer
