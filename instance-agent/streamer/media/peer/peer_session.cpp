#include "instance-agent/streamer/media/peer/peer_session.h"

#define GST_USE_UNSTABLE_API
#include <fmt/format.h>
#include <gst/webrtc/webrtc.h>

#include <string_view>

#include "instance-agent/streamer/media/peer/path_stats.h"
#include "instance-agent/streamer/media/peer/transport_end.h"
#include "instance-agent/streamer/media/sound/sound.h"
#include "instance-agent/streamer/peer/bitrate_choice.h"
#include "libsvc/base/log.h"

namespace svc::streamer {
namespace {

std::string media_of(const GstCaps* caps, const char* field) {
    const GstStructure* const structure =
        caps != nullptr && gst_caps_get_size(caps) > 0 ? gst_caps_get_structure(caps, 0) : nullptr;
    const gchar* const value = structure != nullptr ? gst_structure_get_string(structure, field) : nullptr;
    return value != nullptr ? value : "";
}

bool is_of(const GstMessage* message, std::string_view factory_name) {
    if (!GST_IS_ELEMENT(GST_MESSAGE_SRC(message))) return false;
    GstElementFactory* const factory = gst_element_get_factory(GST_ELEMENT(GST_MESSAGE_SRC(message)));
    return factory != nullptr && factory_name == GST_OBJECT_NAME(factory);
}

}  // namespace

PeerSession::PeerSession(PeerSetup setup, PeerEvents& events, std::shared_ptr<DisplayEncoders> encoders)
    : setup_(std::move(setup)),
      encoders_(std::move(encoders)),
      watches_(setup_.watches),
      gate_(std::make_shared<EventGate>(events)),
      channels_(std::make_shared<DataChannels>(setup_.settings.data_channels, gate_)),
      congestion_(bitrate_limits(setup_)) {}

PeerSession::~PeerSession() {
    close();
}

void PeerSession::start() {
    pipeline_ = std::make_unique<PeerPipeline>(setup_, meters_);
    const Offered offered = pipeline_->offer(*channels_);
    watch();
    if (gst_element_set_state(pipeline_->pipeline(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        throw Error(ErrorCode::unavailable, "the display cannot be captured");
    negotiation_ = std::make_shared<Negotiation>(pipeline_->webrtc(), offered, gate_);
    negotiation_->start();
    ticker_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "peer-ticks");
        run_ticks(stop);
    });
}

// Closes the transports first: a client of a pipeline that just stops would take that for a lost connection.
void PeerSession::say_goodbye() {
    if (parting_.exchange(true)) return;
    gate_->close();
    {
        std::lock_guard lock(mutex_);
        if (!connected_) return;
    }
    channels_->flush();
    close_transports(pipeline_->webrtc());
}

void PeerSession::close() {
    say_goodbye();
    {
        std::lock_guard lock(mutex_);
        if (std::exchange(closing_, true)) return;
    }
    if (ticker_.joinable()) {
        ticker_.request_stop();
        ticker_.join();
    }
    camera_->set({});
    if (pipeline_) pipeline_->end();
    display_.reset();
    pipeline_.reset();
}

void PeerSession::set_answer(const std::string& sdp) {
    negotiation_->set_answer(sdp, [this](VideoCodec codec) { send_display(codec); });
}

void PeerSession::send_display(VideoCodec codec) {
    std::unique_lock lock(mutex_);
    const std::uint32_t kbps = congestion_.target_kbps();
    lock.unlock();
    auto display = make_display(codec, kbps);
    lock.lock();
    display_ = std::move(display);
    codec_ = codec;
    lock.unlock();
    display_bin_ = display_->bin();
    pipeline_->send_display(display_->bin());
}

std::shared_ptr<DisplayEncoder> PeerSession::find_encoder_for(VideoCodec codec, std::uint32_t kbps) {
    return encoders_->get(
        {setup_.places, {setup_.width, setup_.height, setup_.fps}, codec, setup_.encoder, kbps});
}

std::unique_ptr<DisplayOut> PeerSession::make_display(VideoCodec codec, std::uint32_t kbps) {
    return std::make_unique<DisplayOut>(find_encoder_for(codec, kbps), meters_->video,
                                        [weak = weak_from_this()](const std::string& reason) {
                                            if (const auto session = weak.lock())
                                                session->fail("the display cannot be streamed: " + reason);
                                        });
}

void PeerSession::watch() {
    const auto self = shared_from_this();
    connect(pipeline_->webrtc(), "notify::ice-connection-state", G_CALLBACK(&PeerSession::on_state), self);
    connect(pipeline_->webrtc(), "notify::connection-state", G_CALLBACK(&PeerSession::on_state), self);
    connect(pipeline_->webrtc(), "pad-added", G_CALLBACK(&PeerSession::on_pad), self);
    const Ref<GstBus> bus(gst_element_get_bus(pipeline_->pipeline()));
    const auto destroy = [](gpointer data) { delete static_cast<std::weak_ptr<PeerSession>*>(data); };
    gst_bus_set_sync_handler(bus.get(), &PeerSession::on_message, new std::weak_ptr<PeerSession>(self),
                             destroy);
}

void PeerSession::on_state(GstElement*, GParamSpec*, gpointer data) {
    if (const auto session = held<PeerSession>(data)) session->connection_moved();
}

void PeerSession::connection_moved() {
    GstWebRTCICEConnectionState ice{};
    GstWebRTCPeerConnectionState connection{};
    {
        std::lock_guard lock(mutex_);
        if (parting_) return;
        g_object_get(pipeline_->webrtc(), "ice-connection-state", &ice, "connection-state", &connection,
                     nullptr);
    }
    log_rtc("states",
            fmt::format("ice {} connection {}", static_cast<int>(ice), static_cast<int>(connection)));
    if (ice == GST_WEBRTC_ICE_CONNECTION_STATE_FAILED) return fail("no path to the client was found");
    if (connection == GST_WEBRTC_PEER_CONNECTION_STATE_FAILED)
        return fail("the connection to the client failed");
    if (connection == GST_WEBRTC_PEER_CONNECTION_STATE_CLOSED) return client_left();
    if (connection != GST_WEBRTC_PEER_CONNECTION_STATE_CONNECTED) return;
    {
        std::lock_guard lock(mutex_);
        if (closing_ || std::exchange(connected_, true)) return;
        if (display_) display_->begin();
        meter_feedback(pipeline_->webrtc(), feedback_);
        woken_ = true;
    }
    tick_.notify_all();
    look_for_relay();
    gate_->tell([](PeerEvents& events) { events.connected(); });
}

// From now on.
bool PeerSession::is_over() {
    std::lock_guard lock(mutex_);
    return closing_ || std::exchange(failed_, true);
}

void PeerSession::fail(const std::string& reason) {
    if (!is_over()) gate_->tell([&](PeerEvents& events) { events.failed(reason); });
}

void PeerSession::client_left() {
    if (!is_over()) gate_->tell([](PeerEvents& events) { events.left(); });
}

void PeerSession::on_pad(GstElement*, GstPad* pad, gpointer data) {
    const auto session = held<PeerSession>(data);
    if (session && GST_PAD_DIRECTION(pad) == GST_PAD_SRC) session->receive(pad);
}

void PeerSession::receive(GstPad* pad) {
    std::lock_guard lock(mutex_);
    if (closing_) return;
    const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
    const bool video = media_of(caps.get(), "media") == "video";
    GstElement* bin = video ? camera_->make_bin_for(media_of(caps.get(), "encoding-name"))
                            : make_microphone_in(setup_.places.audio_server);
    if (bin != nullptr && !video) {
        microphone_gate_ = element_of(bin, "gate");
        g_object_set(microphone_gate_.get(), "drop", gboolean{watches_}, nullptr);
    }
    if (bin == nullptr) bin = make_bin("fakesink sync=false async=false");
    gst_bin_add(GST_BIN(pipeline_->pipeline()), bin);
    gst_element_sync_state_with_parent(bin);
    const Ref<GstPad> sink(gst_element_get_static_pad(bin, "sink"));
    gst_pad_link(pad, sink.get());
}

// An error of one branch ends that branch alone; only an error of the display ends the session. A player that
// leaves aborts its channels first, which is an error of their sender. Errors after the end are ignored.
GstBusSyncReply PeerSession::on_message(GstBus*, GstMessage* message, gpointer data) {
    const Ref<GstMessage> owned(message);
    const auto session = held<PeerSession>(data);
    if (session && GST_MESSAGE_TYPE(message) == GST_MESSAGE_LATENCY) session->latency_changed_ = true;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || !session || session->parting_) return GST_BUS_DROP;
    GError* error = nullptr;
    gchar* details = nullptr;
    gst_message_parse_error(message, &error, &details);
    const std::unique_ptr<GError, Free> owned_error(error);
    const TextRef owned_details(details);
    const std::string name = GST_MESSAGE_SRC_NAME(message);
    if (is_of(message, "sctpenc")) {
        log::debug("the data channels have ended", {{"element", name}, {"error", error->message}});
        session->client_left();
        return GST_BUS_DROP;
    }
    log::warning("media element failed", {{"element", name}, {"error", error->message}});
    GstElement* const display = session->display_bin_;
    const bool of_display =
        display != nullptr && gst_object_has_as_ancestor(GST_MESSAGE_SRC(message), GST_OBJECT(display));
    if (of_display) session->fail(std::string("the display cannot be streamed: ") + error->message);
    return GST_BUS_DROP;
}

void PeerSession::request_key_frame() {
    if (display_) display_->request_key_frame();
}

void PeerSession::set_bitrates(BitrateLimits limits) {
    std::lock_guard lock(mutex_);
    setup_.bitrates = limits;
    heed_limits();
}

// Called with the lock held.
void PeerSession::heed_limits() {
    congestion_.set_limits(bitrate_limits(setup_));
    if (display_ && !watches_) display_->set_kbps(congestion_.target_kbps());
}

void PeerSession::set_watching(bool watches) {
    std::lock_guard lock(mutex_);
    watches_ = watches;
    heed_limits();  // one that steers has the bit rate of its own connection
    if (microphone_gate_) g_object_set(microphone_gate_.get(), "drop", gboolean{watches}, nullptr);
}

void PeerSession::hide_screen() {
    if (display_) display_->encode_by(nullptr);
}

void PeerSession::show_screen(int width, int height) try {
    std::unique_lock lock(mutex_);
    setup_.width = width;
    setup_.height = height;
    heed_limits();
    const std::uint32_t kbps = congestion_.target_kbps();
    lock.unlock();
    if (display_) display_->encode_by(find_encoder_for(codec_, kbps));
} catch (const Error& e) {
    fail(std::string("the display cannot be streamed: ") + e.what());
}

PeerStats PeerSession::stats() const {
    std::lock_guard lock(mutex_);
    PeerStats stats;
    stats.relay_in_use = relay_in_use_;
    const auto add = [&](const char* kind, const SendMeter& meter, double target) -> StreamStats& {
        StreamStats& stream = stats.streams.emplace_back();
        stream.kind = kind;
        stream.target_bitrate = target;
        meter.add_to(stream);
        const FeedbackCounts counts = feedback_->counts(meter.ssrc());
        stream.nack_count = counts.nacks;
        stream.pli_count = counts.plis;
        stream.fir_count = counts.firs;
        stream.sli_count = counts.slis;
        return stream;
    };
    if (meters_->video) {
        StreamStats& video = add("video", *meters_->video, congestion_.target_kbps() * 1000.0);
        if (display_) display_->add_to(video);
    }
    if (meters_->audio) add("audio", *meters_->audio, audio_bits_per_second);
    return stats;
}

void PeerSession::log_rtc(const std::string& what, const std::string& value) const {
    if (setup_.log_rtc) log::info("rtc", {{what, value}});
}

}  // namespace svc::streamer
