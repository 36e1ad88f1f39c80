#include "instance-agent/streamer/media/peer_session.h"

#define GST_USE_UNSTABLE_API
#include <fmt/format.h>
#include <gst/webrtc/webrtc.h>

#include <chrono>
#include <random>
#include <string_view>

#include "instance-agent/devices/platform/bitrate_limits.h"
#include "instance-agent/streamer/media/ice_urls.h"
#include "instance-agent/streamer/media/media_start.h"
#include "instance-agent/streamer/media/path_stats.h"
#include "instance-agent/streamer/media/sound.h"
#include "libsvc/base/log.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
constexpr auto tick_interval = 500ms;
constexpr int ticks_a_look = 4;  // how often it is asked which path is in use
constexpr auto early_interval = 100ms;
constexpr int most_early_ticks = 8;
constexpr int most_beginnings = 16;
constexpr int most_quiet_ticks = 10, most_silent_ticks = 30;
constexpr guint receive_latency =
    60;  // milliseconds the client's camera and microphone may wait for a packet
constexpr const char* stream_name = "display";  // of all we send: players keep sound and picture together

std::uint32_t random_ssrc() {
    std::random_device source;
    return std::uniform_int_distribution<std::uint32_t>(1)(source);
}

BitrateLimits effective(BitrateLimits limits, const PeerSetup& setup) {
    const auto side = [](int value) { return static_cast<std::uint32_t>(value); };
    const agent::BitrateRange range = agent::choose_bitrates(
        agent::read_bitrate_limits(""), {side(setup.width), side(setup.height), side(setup.fps)});
    if (limits.least_kbps == 0) limits.least_kbps = range.least;
    if (limits.most_kbps == 0) limits.most_kbps = range.most;
    if (limits.least_kbps > limits.most_kbps) std::swap(limits.least_kbps, limits.most_kbps);
    return limits;
}

// With it in the caps, the offer names the stream that the track belongs to.
std::string of_ssrc(std::uint32_t ssrc) {
    return fmt::format(",ssrc=(uint){}", ssrc);
}

std::string media_of(const GstCaps* caps, const char* field) {
    const GstStructure* const structure =
        caps != nullptr && gst_caps_get_size(caps) > 0 ? gst_caps_get_structure(caps, 0) : nullptr;
    const gchar* const value = structure != nullptr ? gst_structure_get_string(structure, field) : nullptr;
    return value != nullptr ? value : "";
}

}  // namespace

PeerSession::PeerSession(PeerSetup setup, PeerEvents& events)
    : setup_(std::move(setup)),
      gate_(std::make_shared<EventGate>(events)),
      channels_(std::make_shared<DataChannels>(setup_.settings.data_channels, gate_)),
      congestion_(effective(setup_.bitrates, setup_)) {}

PeerSession::~PeerSession() {
    close();
}

void PeerSession::start() {
    build();
    watch();
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        throw Error(ErrorCode::unavailable, "the display cannot be captured");
    negotiation_ = std::make_shared<Negotiation>(webrtc_.get(), offered_, gate_);
    negotiation_->start();
    ticker_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "peer-ticks");
        run_ticks(stop);
    });
}

void PeerSession::close() {
    {
        std::lock_guard lock(mutex_);
        if (std::exchange(closing_, true)) return;
    }
    gate_->close();
    if (ticker_.joinable()) {
        ticker_.request_stop();
        ticker_.join();
    }
    if (display_) display_->stop();
    camera_->set({});
    channels_->end();
    if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    display_.reset();
    display_sink_.reset();
    webrtc_.reset();
    pipeline_.reset();
}

void PeerSession::build() {
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
    webrtc_.reset(gst_element_factory_make("webrtcbin", nullptr));
    if (!webrtc_) throw Error(ErrorCode::unsupported, "media cannot be set up: no element \"webrtcbin\"");
    gst_object_ref_sink(webrtc_.get());
    g_object_set(webrtc_.get(), "bundle-policy", GST_WEBRTC_BUNDLE_POLICY_MAX_BUNDLE, "latency",
                 receive_latency, nullptr);
    gst_bin_add(GST_BIN(pipeline_.get()), webrtc_.get());
    connect(pipeline_.get(), "deep-element-added", G_CALLBACK(&PeerSession::on_element), shared_from_this());
    set_ice_servers();
    gst_element_set_state(pipeline_.get(), GST_STATE_READY);
    add_sound();
    add_camera();
    offer_display();
    add_channels();
}

// No asking of routers for ports, which opens a port of its own; and whether the client is there is asked now
// and then.
void PeerSession::set_ice_servers() {
    GstObject* raw_ice = nullptr;
    GObject* raw_agent = nullptr;
    g_object_get(webrtc_.get(), "ice-agent", &raw_ice, nullptr);
    const Ref<GstObject> ice(raw_ice);
    g_object_get(ice.get(), "agent", &raw_agent, nullptr);
    const Ref<GObject> agent(raw_agent);
    g_object_set(agent.get(), "upnp", FALSE, "keepalive-conncheck", TRUE, nullptr);
    const IceUrls urls = ice_urls(setup_.ice_servers);
    if (!urls.stun.empty()) g_object_set(webrtc_.get(), "stun-server", urls.stun.c_str(), nullptr);
    for (const std::string& url : urls.turn) {
        gboolean added = FALSE;
        g_signal_emit_by_name(webrtc_.get(), "add-turn-server", url.c_str(), &added);
    }
}

// Pads and transceivers are made in the order their sections shall have.
Ref<GstPad> PeerSession::offer_to_send(const std::string& caps_text, int direction, bool resend) {
    const auto caps = caps_of(caps_text);
    GstPadTemplate* const form = gst_element_get_pad_template(webrtc_.get(), "sink_%u");
    Ref<GstPad> sink(gst_element_request_pad(webrtc_.get(), form, nullptr, caps.get()));
    if (!sink) throw Error(ErrorCode::internal, "a stream cannot be added to the connection");
    GstWebRTCRTPTransceiver* raw = nullptr;
    g_object_get(sink.get(), "transceiver", &raw, nullptr);
    const Ref<GstWebRTCRTPTransceiver> transceiver(raw);
    g_object_set(transceiver.get(), "direction", direction, "codec-preferences", caps.get(), "do-nack",
                 gboolean{resend}, nullptr);
    g_object_set(sink.get(), "msid", stream_name, nullptr);
    return sink;
}

void PeerSession::send_through(GstElement* bin, GstPad* sink) {
    gst_bin_add(GST_BIN(pipeline_.get()), bin);
    const Ref<GstPad> source(gst_element_get_static_pad(bin, "src"));
    if (gst_pad_link(source.get(), sink) != GST_PAD_LINK_OK)
        throw Error(ErrorCode::internal, "a stream cannot be joined to the connection");
}

void PeerSession::add_sound() {
    if (!setup_.settings.speaker && !setup_.settings.microphone) return;
    meters_->audio = std::make_shared<SendMeter>(random_ssrc());
    const auto direction = setup_.settings.microphone ? GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDRECV
                                                      : GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY;
    const std::string server = setup_.settings.speaker ? setup_.places.audio_server : "";
    const auto sink = offer_to_send(audio_caps() + of_ssrc(meters_->audio->ssrc()), direction, false);
    send_through(make_sound_out(server, meters_->audio), sink.get());
    offered_.sections.push_back(Section::audio);
}

void PeerSession::add_camera() {
    if (!setup_.settings.camera) return;
    const auto caps = caps_of(video_caps(VideoCodec::vp8) + ";" + video_caps(VideoCodec::h264));
    GstWebRTCRTPTransceiver* raw = nullptr;
    g_signal_emit_by_name(webrtc_.get(), "add-transceiver", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_RECVONLY,
                          caps.get(), &raw);
    const Ref<GstWebRTCRTPTransceiver> transceiver(raw);
    g_object_set(transceiver.get(), "do-nack", TRUE, nullptr);
    offered_.sections.push_back(Section::camera);
}

// Nothing is captured before the client has said in which codec it wants it.
void PeerSession::offer_display() {
    if (!setup_.settings.video) return;
    offered_.codecs = codecs_to_offer(setup_.settings.preferred_codecs);
    meters_->video = std::make_shared<SendMeter>(random_ssrc());
    std::string caps;
    for (const VideoCodec codec : offered_.codecs)
        caps += caps.empty() ? video_caps(codec) + of_ssrc(meters_->video->ssrc()) : ";" + video_caps(codec);
    display_sink_ = offer_to_send(caps, GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY, true);
    offered_.sections.push_back(Section::display);
}

void PeerSession::set_answer(const std::string& sdp) {
    negotiation_->set_answer(sdp, [this](VideoCodec codec) { send_display(codec); });
}

void PeerSession::send_display(VideoCodec codec) {
    std::unique_lock lock(mutex_);
    display_ = std::make_unique<DisplayOut>(setup_.places, codec,
                                            PictureShape{setup_.width, setup_.height, setup_.fps},
                                            congestion_.target_kbps(), meters_->video);
    lock.unlock();
    display_bin_ = display_->bin();
    send_through(display_->bin(), display_sink_.get());
    if (gst_element_sync_state_with_parent(display_->bin()) == FALSE)
        throw Error(ErrorCode::unavailable, "the display cannot be captured");
}

// Without a channel of ours the offer has no section for those of the client.
void PeerSession::add_channels() {
    channels_->listen_to(webrtc_.get());
    GstWebRTCDataChannel* channel = nullptr;
    g_signal_emit_by_name(webrtc_.get(), "create-data-channel", "bootstrap", nullptr, &channel);
    const Ref<GstWebRTCDataChannel> owned(channel);
    if (!owned) throw Error(ErrorCode::unsupported, "media cannot be set up: no data channels");
    offered_.sections.push_back(Section::application);
}

void PeerSession::watch() {
    const auto self = shared_from_this();
    connect(webrtc_.get(), "notify::ice-connection-state", G_CALLBACK(&PeerSession::on_state), self);
    connect(webrtc_.get(), "notify::connection-state", G_CALLBACK(&PeerSession::on_state), self);
    connect(webrtc_.get(), "pad-added", G_CALLBACK(&PeerSession::on_pad), self);
    const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
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
        if (closing_) return;
        g_object_get(webrtc_.get(), "ice-connection-state", &ice, "connection-state", &connection, nullptr);
    }
    log_rtc("states",
            fmt::format("ice {} connection {}", static_cast<int>(ice), static_cast<int>(connection)));
    if (ice == GST_WEBRTC_ICE_CONNECTION_STATE_FAILED) return fail("no path to the client was found");
    if (connection == GST_WEBRTC_PEER_CONNECTION_STATE_FAILED)
        return fail("the connection to the client failed");
    if (connection == GST_WEBRTC_PEER_CONNECTION_STATE_CLOSED)
        return fail("the client closed the connection");
    if (connection != GST_WEBRTC_PEER_CONNECTION_STATE_CONNECTED) return;
    {
        std::lock_guard lock(mutex_);
        if (closing_ || std::exchange(connected_, true)) return;
        if (display_) display_->begin();
        meter_feedback(webrtc_.get(), feedback_);
        woken_ = true;
    }
    tick_.notify_all();
    look_for_relay();
    gate_->tell([](PeerEvents& events) { events.connected(); });
}

void PeerSession::fail(const std::string& reason) {
    {
        std::lock_guard lock(mutex_);
        if (closing_ || std::exchange(failed_, true)) return;
    }
    gate_->tell([&](PeerEvents& events) { events.failed(reason); });
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
    if (bin == nullptr) bin = make_bin("fakesink sync=false async=false");
    gst_bin_add(GST_BIN(pipeline_.get()), bin);
    gst_element_sync_state_with_parent(bin);
    const Ref<GstPad> sink(gst_element_get_static_pad(bin, "sink"));
    gst_pad_link(pad, sink.get());
}

void PeerSession::on_element(GstBin*, GstBin*, GstElement* element, gpointer data) {
    const auto session = held<PeerSession>(data);
    GstElementFactory* const factory = gst_element_get_factory(element);
    if (session && factory != nullptr && std::string_view(GST_OBJECT_NAME(factory)) == "dtlssrtpenc")
        meter_network(element, session->meters_);
}

// A branch that breaks ends alone: only without a picture there is nothing left.
GstBusSyncReply PeerSession::on_message(GstBus*, GstMessage* message, gpointer data) {
    const Ref<GstMessage> owned(message);
    const auto session = held<PeerSession>(data);
    if (session && GST_MESSAGE_TYPE(message) == GST_MESSAGE_LATENCY) session->latency_changed_ = true;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || !session) return GST_BUS_DROP;
    GError* error = nullptr;
    gchar* details = nullptr;
    gst_message_parse_error(message, &error, &details);
    const std::unique_ptr<GError, Free> owned_error(error);
    const TextRef owned_details(details);
    const std::string name = GST_MESSAGE_SRC_NAME(message);
    log::warning("media element failed", {{"element", name}, {"error", error->message}});
    GstElement* const display = session->display_bin_;
    const bool of_display =
        display != nullptr && gst_object_has_as_ancestor(GST_MESSAGE_SRC(message), GST_OBJECT(display));
    if (of_display) session->fail(std::string("the display cannot be streamed: ") + error->message);
    return GST_BUS_DROP;
}

void PeerSession::run_ticks(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (int tick = 0; !stop.stop_requested(); ++tick) {
        const auto interval = connected_ && early_ticks_ < most_early_ticks ? early_interval : tick_interval;
        tick_.wait_for(lock, stop, interval, [&] { return std::exchange(woken_, false); });
        if (stop.stop_requested() || !connected_) continue;
        repeat_beginning();
        adapt();
        const bool silent = is_silent(), quiet = silent_ticks_ == most_quiet_ticks;
        const bool look = tick % ticks_a_look == 0;
        lock.unlock();
        if (latency_changed_.exchange(false)) gst_bin_recalculate_latency(GST_BIN(pipeline_.get()));
        if (quiet) gate_->tell([](PeerEvents& events) { events.fell_silent(); });
        if (silent) fail("the client has fallen silent");
        if (look) look_for_relay();
        lock.lock();
    }
}

// The client may have its keys a moment after us and lose the first picture. As long as it says nothing of
// the display there is another one, and a last one then. With the lock held.
void PeerSession::repeat_beginning() {
    if (early_ticks_ >= most_beginnings || ++early_ticks_ == 1 || begun_ || !display_) return;
    begun_ = feedback_->has_heard_of(meters_->video->ssrc());
    display_->request_key_frame();
}

// A player reports several times a second to every few seconds; one that crashed does not say so. With the
// lock held.
bool PeerSession::is_silent() {
    if (!meters_->video && !meters_->audio) return false;
    const std::uint64_t heard = feedback_->packets();
    silent_ticks_ = heard == std::exchange(reports_heard_, heard) ? silent_ticks_ + 1 : 0;
    return silent_ticks_ >= most_silent_ticks;
}

// With the lock held.
void PeerSession::adapt() {
    const auto report = meters_->video ? feedback_->take_report(meters_->video->ssrc()) : std::nullopt;
    if (!report) return;
    ReceiverReport told{report->loss, std::nullopt, std::nullopt, report->packets};
    if (report->rtt) told.rtt = std::chrono::duration<double>(*report->rtt);
    if (const auto transport = transport_feedback(webrtc_.get()))
        told.received_kbps = transport->received_kbps;
    if (congestion_.heed(told, std::chrono::steady_clock::now()) && display_)
        display_->set_kbps(congestion_.target_kbps());
}

void PeerSession::look_for_relay() {
    find_relay(webrtc_.get(), [weak = weak_from_this()](bool relay) {
        const auto session = weak.lock();
        if (!session) return;
        std::lock_guard lock(session->mutex_);
        session->relay_in_use_ = relay;
    });
}

void PeerSession::request_key_frame() {
    if (display_) display_->request_key_frame();
}

void PeerSession::set_bitrates(BitrateLimits limits) {
    std::lock_guard lock(mutex_);
    congestion_.set_limits(effective(limits, setup_));
    if (display_) display_->set_kbps(congestion_.target_kbps());
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
