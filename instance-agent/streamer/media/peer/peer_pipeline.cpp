#include "instance-agent/streamer/media/peer/peer_pipeline.h"

#define GST_USE_UNSTABLE_API
#include <fmt/format.h>
#include <gst/webrtc/webrtc.h>

#include <random>
#include <string_view>

#include "instance-agent/streamer/media/peer/ice_urls.h"
#include "instance-agent/streamer/media/sound/sound.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/codecs.h"

namespace svc::streamer {
namespace {

constexpr guint receive_latency = 60;  // milliseconds: jitter buffer for the client's camera and microphone
constexpr const char* stream_name =
    "display";  // one stream id for video and sound, so that players synchronise them

std::uint32_t random_ssrc() {
    std::random_device source;
    return std::uniform_int_distribution<std::uint32_t>(1)(source);
}

// This field of the caps makes the offer name the stream of the track.
std::string of_ssrc(std::uint32_t ssrc) {
    return fmt::format(",ssrc=(uint){}", ssrc);
}

}  // namespace

PeerPipeline::PeerPipeline(const PeerSetup& setup, std::shared_ptr<SendMeters> meters)
    : setup_(setup), meters_(std::move(meters)) {
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
    webrtc_.reset(gst_element_factory_make("webrtcbin", nullptr));
    if (!webrtc_) throw Error(ErrorCode::unsupported, "media cannot be set up: no element \"webrtcbin\"");
    gst_object_ref_sink(webrtc_.get());
    g_object_set(webrtc_.get(), "bundle-policy", GST_WEBRTC_BUNDLE_POLICY_MAX_BUNDLE, "latency",
                 receive_latency, nullptr);
    gst_bin_add(GST_BIN(pipeline_.get()), webrtc_.get());
    connect(pipeline_.get(), "deep-element-added", G_CALLBACK(&PeerPipeline::on_element), meters_);
    set_ice_servers();
    gst_element_set_state(pipeline_.get(), GST_STATE_READY);
}

// Switches UPnP off (it opens a port of its own), and consent checks on.
void PeerPipeline::set_ice_servers() {
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

Offered PeerPipeline::offer(DataChannels& channels) {
    add_sound();
    add_camera();
    add_display();
    add_channels(channels);
    return offered_;
}

// Pads and transceivers are made in the order of the sections.
Ref<GstPad> PeerPipeline::offer_to_send(const std::string& caps_text, int direction, bool resend) {
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

void PeerPipeline::send_through(GstElement* bin, GstPad* sink) {
    gst_bin_add(GST_BIN(pipeline_.get()), bin);
    const Ref<GstPad> source(gst_element_get_static_pad(bin, "src"));
    if (gst_pad_link(source.get(), sink) != GST_PAD_LINK_OK)
        throw Error(ErrorCode::internal, "a stream cannot be joined to the connection");
}

void PeerPipeline::add_sound() {
    if (!setup_.settings.speaker && !setup_.settings.microphone) return;
    meters_->audio = std::make_shared<SendMeter>(random_ssrc());
    const auto direction = setup_.settings.microphone ? GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDRECV
                                                      : GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY;
    const std::string server = setup_.settings.speaker ? setup_.places.audio_server : "";
    const auto sink = offer_to_send(audio_caps() + of_ssrc(meters_->audio->ssrc()), direction, false);
    send_through(make_sound_out(server, meters_->audio), sink.get());
    offered_.sections.push_back(Section::audio);
}

void PeerPipeline::add_camera() {
    if (!setup_.settings.camera) return;
    const auto caps = caps_of(video_caps(VideoCodec::vp8) + ";" + video_caps(VideoCodec::h264));
    GstWebRTCRTPTransceiver* raw = nullptr;
    g_signal_emit_by_name(webrtc_.get(), "add-transceiver", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_RECVONLY,
                          caps.get(), &raw);
    const Ref<GstWebRTCRTPTransceiver> transceiver(raw);
    g_object_set(transceiver.get(), "do-nack", TRUE, nullptr);
    offered_.sections.push_back(Section::camera);
}

// Capture begins when the client's answer has named the codec.
void PeerPipeline::add_display() {
    if (!setup_.settings.video) return;
    offered_.codecs = codecs_to_offer(setup_.settings.preferred_codecs, setup_.encoder);
    meters_->video = std::make_shared<SendMeter>(random_ssrc());
    std::string caps;
    for (const VideoCodec codec : offered_.codecs)
        caps += caps.empty() ? video_caps(codec) + of_ssrc(meters_->video->ssrc()) : ";" + video_caps(codec);
    display_sink_ = offer_to_send(caps, GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY, true);
    offered_.sections.push_back(Section::display);
}

// The offer has a section for data channels only when this side opens one.
void PeerPipeline::add_channels(DataChannels& channels) {
    channels.listen_to(webrtc_.get());
    GstWebRTCDataChannel* channel = nullptr;
    g_signal_emit_by_name(webrtc_.get(), "create-data-channel", "bootstrap", nullptr, &channel);
    const Ref<GstWebRTCDataChannel> owned(channel);
    if (!owned) throw Error(ErrorCode::unsupported, "media cannot be set up: no data channels");
    offered_.sections.push_back(Section::application);
}

void PeerPipeline::on_element(GstBin*, GstBin*, GstElement* element, gpointer data) {
    const auto meters = held<SendMeters>(data);
    GstElementFactory* const factory = gst_element_get_factory(element);
    if (meters && factory != nullptr && std::string_view(GST_OBJECT_NAME(factory)) == "dtlssrtpenc")
        meter_network(element, meters);
}

void PeerPipeline::send_display(GstElement* bin) {
    send_through(bin, display_sink_.get());
    if (gst_element_sync_state_with_parent(bin) == FALSE)
        throw Error(ErrorCode::unavailable, "the display cannot be captured");
}

void PeerPipeline::end() {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

}  // namespace svc::streamer
