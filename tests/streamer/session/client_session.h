#pragma once
// The pipeline of a headless client: its part of headless_client.cpp.
#define GST_USE_UNSTABLE_API
#include <fmt/format.h>
#include <gst/app/gstappsink.h>
#include <gst/video/video.h>
#include <gst/webrtc/webrtc.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

#include "tests/streamer/client/headless_client.h"
#include "tests/streamer/client/known_codecs.h"

namespace svc::streamer {

inline std::string field_of(const GstCaps* caps, const char* field) {
    const gchar* const value = gst_structure_get_string(gst_caps_get_structure(caps, 0), field);
    return value != nullptr ? value : "";
}

inline std::string branch_for(const GstCaps* caps, bool decode) {
    if (field_of(caps, "media") == "audio") return "fakesink name=sound sync=false async=false";
    const std::string codec = field_of(caps, "encoding-name");
    const bool h264 = codec == "H264";
    const std::string of_vpx = codec == "VP9" ? "vp9" : "vp8";
    const std::string depayed =
        h264 ? "rtph264depay name=depay request-keyframe=true wait-for-keyframe=true "
               "! video/x-h264,stream-format=byte-stream,alignment=au"
             : "rtp" + of_vpx + "depay name=depay request-keyframe=true wait-for-keyframe=true";
    if (!decode) return depayed + " ! fakesink sync=false async=false";
    return depayed + (h264 ? " ! h264parse ! openh264dec" : " ! " + of_vpx + "dec") +
           " ! queue max-size-buffers=2 leaky=downstream ! videoconvert ! video/x-raw,format=RGBA ! appsink "
           "name=pictures sync=false async=false emit-signals=true max-buffers=2 drop=true";
}

class HeadlessClient::Implementation : public std::enable_shared_from_this<Implementation> {
  public:
    Implementation(ClientWish wish, ClientSignals signals)
        : wish(std::move(wish)), signals(std::move(signals)) {}

    void start() {
        pipeline.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
        webrtc.reset(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("webrtcbin", nullptr))));
        g_object_set(webrtc.get(), "bundle-policy", GST_WEBRTC_BUNDLE_POLICY_MAX_BUNDLE, "latency", 0u,
                     nullptr);
        gst_bin_add(GST_BIN(pipeline.get()), webrtc.get());
        leave_routers_alone();
        if (!wish.turn_url.empty()) {
            gboolean added = FALSE;
            g_signal_emit_by_name(webrtc.get(), "add-turn-server", wish.turn_url.c_str(), &added);
        }
        if (wish.relay_only)
            g_object_set(webrtc.get(), "ice-transport-policy", GST_WEBRTC_ICE_TRANSPORT_POLICY_RELAY,
                         nullptr);
        const auto self = shared_from_this();
        connect(webrtc.get(), "on-ice-candidate", G_CALLBACK(&Implementation::on_candidate), self);
        connect(webrtc.get(), "pad-added", G_CALLBACK(&Implementation::on_pad), self);
        connect(webrtc.get(), "deep-element-added", G_CALLBACK(&Implementation::on_element), self);
        connect(webrtc.get(), "notify::connection-state", G_CALLBACK(&Implementation::on_state), self);
        gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    }

    void stop() {
        {
            std::lock_guard lock(mutex);
            closing = true;
        }
        gst_element_set_state(pipeline.get(), GST_STATE_NULL);
        std::lock_guard lock(mutex);
        channels.clear();
        webrtc.reset();
        pipeline.reset();
    }

    void take_offer(const std::string& offer_text) {
        if (wish.codecs) rejects_pictures = !knows_display(offer_text, *wish.codecs);
        const std::string sdp = wish.codecs ? known_part(offer_text, *wish.codecs) : offer_text;
        GstSDPMessage* message = nullptr;
        if (gst_sdp_message_new_from_text(sdp.c_str(), &message) != GST_SDP_OK)
            throw Error(ErrorCode::invalid_argument, "offer is not a session description");
        auto* const offer = gst_webrtc_session_description_new(GST_WEBRTC_SDP_TYPE_OFFER, message);
        add_senders(sdp);
        const Ref<GstPromise> promise(gst_promise_new());
        g_signal_emit_by_name(webrtc.get(), "set-remote-description", offer, promise.get());
        gst_promise_wait(promise.get());
        gst_webrtc_session_description_free(offer);
        open_channels();
        make_answer();
    }

    ClientWish wish;
    ClientSignals signals;
    Ref<GstElement> pipeline, webrtc;
    mutable std::mutex mutex;
    std::condition_variable changed;
    bool connected = false, closed = false, closing = false, rejects_pictures = false;
    std::optional<int> abort_cause;
    std::uint64_t frames = 0, sound_packets = 0;
    std::optional<Moment> first_frame;
    ClientPicture picture;
    std::function<void(const ClientPicture&, Moment)> listener;
    std::deque<ClientMessage> messages;
    std::map<std::string, std::shared_ptr<GstWebRTCDataChannel>> channels;
    std::map<std::string, bool> open;
    Ref<GstPad> video_pad;
    Moment asked{}, shown{};
    int unseen = 0;  // frames since the last picture

  private:
    void leave_routers_alone() {
        GstObject* ice = nullptr;
        GObject* agent = nullptr;
        g_object_get(webrtc.get(), "ice-agent", &ice, nullptr);
        g_object_get(ice, "agent", &agent, nullptr);
        g_object_set(agent, "upnp", FALSE, nullptr);
        g_object_unref(agent);
        gst_object_unref(ice);
    }

    void add_sender(const std::string& description, const std::string& caps_text) {
        GstElement* const bin = make_bin(description);
        gst_bin_add(GST_BIN(pipeline.get()), bin);
        const auto caps = caps_of(caps_text);
        GstPadTemplate* const form = gst_element_get_pad_template(webrtc.get(), "sink_%u");
        const Ref<GstPad> sink(gst_element_request_pad(webrtc.get(), form, nullptr, caps.get()));
        GstWebRTCRTPTransceiver* raw = nullptr;
        g_object_get(sink.get(), "transceiver", &raw, nullptr);
        const Ref<GstWebRTCRTPTransceiver> transceiver(raw);
        g_object_set(transceiver.get(), "codec-preferences", caps.get(), nullptr);
        const Ref<GstPad> source(gst_element_get_static_pad(bin, "src"));
        gst_pad_link(source.get(), sink.get());
        gst_element_sync_state_with_parent(bin);
    }

    static std::string payload_of(const std::string& sdp, const std::string& codec) {
        const std::size_t end = sdp.find(" " + codec + "/");
        const std::size_t begin = end == std::string::npos ? end : sdp.rfind(':', end);
        return begin == std::string::npos ? "96" : sdp.substr(begin + 1, end - begin - 1);
    }

    void add_senders(const std::string& sdp) {
        if (wish.microphone)
            add_sender(
                "audiotestsrc is-live=true ! audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay pt=" +
                    payload_of(sdp, "OPUS"),
                "application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload=" +
                    payload_of(sdp, "OPUS"));
        if (!wish.camera) return;
        const auto [red, green, blue] = *wish.camera;
        const unsigned colour = 0xff000000U | unsigned{red} << 16 | unsigned{green} << 8 | blue;
        add_sender(fmt::format("videotestsrc is-live=true pattern=solid-color foreground-color={} ! "
                               "video/x-raw,width=320,height=240,framerate=15/1 ! vp8enc deadline=1 "
                               "keyframe-max-dist=15 ! rtpvp8pay pt={}",
                               colour, payload_of(sdp, "VP8")),
                   "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload=" +
                       payload_of(sdp, "VP8"));
    }

    void open_channels() {
        for (const std::string& name : wish.channels) {
            GstWebRTCDataChannel* channel = nullptr;
            g_signal_emit_by_name(webrtc.get(), "create-data-channel", name.c_str(), nullptr, &channel);
            if (channel == nullptr) throw Error(ErrorCode::internal, "no channel could be made");
            const auto self = shared_from_this();
            connect(channel, "on-open", G_CALLBACK(&Implementation::on_open), self);
            connect(channel, "on-close", G_CALLBACK(&Implementation::on_close), self);
            connect(channel, "on-message-string", G_CALLBACK(&Implementation::on_text), self);
            connect(channel, "on-message-data", G_CALLBACK(&Implementation::on_bytes), self);
            std::lock_guard lock(mutex);
            channels[name] = std::shared_ptr<GstWebRTCDataChannel>(channel, Unref());
        }
    }

    void make_answer() {
        const Ref<GstPromise> made(gst_promise_new());
        g_signal_emit_by_name(webrtc.get(), "create-answer", nullptr, made.get());
        if (gst_promise_wait(made.get()) != GST_PROMISE_RESULT_REPLIED) return;
        const GstStructure* const reply = gst_promise_get_reply(made.get());
        GstWebRTCSessionDescription* answer = nullptr;
        gst_structure_get(reply, "answer", GST_TYPE_WEBRTC_SESSION_DESCRIPTION, &answer, nullptr);
        if (answer == nullptr) throw Error(ErrorCode::internal, "no answer could be made");
        const TextRef text(gst_sdp_message_as_text(answer->sdp));
        const Ref<GstPromise> set(gst_promise_new());
        g_signal_emit_by_name(webrtc.get(), "set-local-description", answer, set.get());
        gst_webrtc_session_description_free(answer);
        signals.answer(rejects_pictures ? without_pictures(text.get()) : text.get());
    }

    static void on_candidate(GstElement*, guint line, const gchar* text, gpointer data) {
        const auto self = held<Implementation>(data);
        if (self && text != nullptr && *text != '\0') self->signals.candidate(text, line);
    }
    static void on_state(GstElement* element, GParamSpec*, gpointer data) {
        const auto self = held<Implementation>(data);
        GstWebRTCPeerConnectionState state{};
        g_object_get(element, "connection-state", &state, nullptr);
        if (self && state == GST_WEBRTC_PEER_CONNECTION_STATE_CONNECTED)
            self->change([&] { self->connected = true; });
    }
    static void on_element(GstBin*, GstBin*, GstElement* element, gpointer data) {
        const auto self = held<Implementation>(data);
        GstElementFactory* const factory = gst_element_get_factory(element);
        if (!self || factory == nullptr) return;
        const std::string_view name = GST_OBJECT_NAME(factory);
        if (name != "sctpdec" && name != "dtlsdec") return;
        add_probe(Ref<GstPad>(gst_element_get_static_pad(element, "sink")).get(), GST_PAD_PROBE_TYPE_BUFFER,
                  name == "sctpdec" ? on_channel_packet : on_encrypted_packet,
                  std::make_shared<std::weak_ptr<Implementation>>(self));
    }
    // RFC 6347: the first byte is the kind of a record. Of alerts, one comes in a life: close_notify.
    static GstPadProbeReturn on_encrypted_packet(GstPad*, GstPadProbeInfo* info, gpointer data) {
        const auto self = probed(data);
        guint8 kind = 0;
        gst_buffer_extract(gst_pad_probe_info_get_buffer(info), 0, &kind, 1);
        if (self && kind == 21) self->change([&] { self->closed = true; });
        return GST_PAD_PROBE_OK;
    }
    // RFC 9260: a header of 12 bytes; the chunk ABORT has number 6, and its first cause is 4 bytes further.
    static GstPadProbeReturn on_channel_packet(GstPad*, GstPadProbeInfo* info, gpointer data) {
        const auto self = probed(data);
        guint8 bytes[18]{};
        if (self && gst_buffer_extract(gst_pad_probe_info_get_buffer(info), 0, bytes, sizeof(bytes)) > 12 &&
            bytes[12] == 6)
            self->change([&] { self->abort_cause = bytes[16] * 256 + bytes[17]; });
        return GST_PAD_PROBE_OK;
    }

    static void on_pad(GstElement*, GstPad* pad, gpointer data) {
        const auto self = held<Implementation>(data);
        if (self && GST_PAD_DIRECTION(pad) == GST_PAD_SRC) self->receive(pad);
    }
    void receive(GstPad* pad) {
        const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
        GstElement* const bin = make_bin(branch_for(caps.get(), wish.decode));
        {
            std::lock_guard lock(mutex);
            if (closing) {
                gst_object_unref(gst_object_ref_sink(bin));
                return;
            }
            gst_bin_add(GST_BIN(pipeline.get()), bin);
            if (field_of(caps.get(), "media") == "video") video_pad.reset(GST_PAD(gst_object_ref(pad)));
        }
        if (const auto pictures = element_of(bin, "pictures"))
            connect(pictures.get(), "new-sample", G_CALLBACK(&Implementation::on_sample), shared_from_this());
        if (const auto depay = element_of(bin, "depay"))
            add_probe(Ref<GstPad>(gst_element_get_static_pad(depay.get(), "src")).get(),
                      GST_PAD_PROBE_TYPE_BUFFER, on_frame,
                      std::make_shared<std::weak_ptr<Implementation>>(shared_from_this()));
        if (const auto sound = element_of(bin, "sound"))
            add_probe(Ref<GstPad>(gst_element_get_static_pad(sound.get(), "sink")).get(),
                      GST_PAD_PROBE_TYPE_BUFFER, on_sound,
                      std::make_shared<std::weak_ptr<Implementation>>(shared_from_this()));
        gst_element_sync_state_with_parent(bin);
        const Ref<GstPad> sink(gst_element_get_static_pad(bin, "sink"));
        gst_pad_link(pad, sink.get());
    }
    static std::shared_ptr<Implementation> probed(gpointer data) {
        return (*static_cast<std::shared_ptr<std::weak_ptr<Implementation>>*>(data))->lock();
    }
    static GstPadProbeReturn on_frame(GstPad*, GstPadProbeInfo*, gpointer data) {
        const auto self = probed(data);
        if (self)
            self->change([&] {
                ++self->frames;
                if (!self->first_frame) self->first_frame = std::chrono::steady_clock::now();
            });
        if (self) self->ask_for_beginning();
        return GST_PAD_PROBE_OK;
    }
    // A player that can show nothing, or nothing more after a loss, says so.
    void ask_for_beginning() {
        Ref<GstPad> pad;
        {
            std::lock_guard lock(mutex);
            const auto now = std::chrono::steady_clock::now();
            if (!wish.decode || ++unseen < 2 || now - shown < std::chrono::milliseconds(300) || !video_pad ||
                now - asked < std::chrono::milliseconds(200))
                return;
            asked = now;
            pad.reset(GST_PAD(gst_object_ref(video_pad.get())));
        }
        gst_pad_send_event(pad.get(),
                           gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, FALSE, 0));
    }
    static GstPadProbeReturn on_sound(GstPad*, GstPadProbeInfo*, gpointer data) {
        if (const auto self = probed(data)) self->change([&] { ++self->sound_packets; });
        return GST_PAD_PROBE_OK;
    }

    static GstFlowReturn on_sample(GstElement* sink, gpointer data) {
        const Ref<GstSample> sample(gst_app_sink_pull_sample(GST_APP_SINK(sink)));
        const auto self = held<Implementation>(data);
        GstVideoInfo info;
        GstVideoFrame frame;
        if (!self || !sample || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())) ||
            !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample.get()), GST_MAP_READ))
            return GST_FLOW_OK;
        ClientPicture picture{info.width, info.height, {}};
        const auto* const pixels = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
        for (int y = 0; y < info.height; ++y) {
            const auto* const row =
                pixels + static_cast<std::size_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
            picture.pixels.insert(picture.pixels.end(), row, row + static_cast<std::size_t>(info.width) * 4);
        }
        gst_video_frame_unmap(&frame);
        self->show(std::move(picture));
        return GST_FLOW_OK;
    }
    void show(ClientPicture decoded) {
        const Moment now = std::chrono::steady_clock::now();
        change([&] {
            picture = std::move(decoded);
            shown = now;
            unseen = 0;
            if (listener) listener(picture, now);
        });
    }

    static std::string label_of(GstWebRTCDataChannel* channel) {
        gchar* text = nullptr;
        g_object_get(channel, "label", &text, nullptr);
        const TextRef label(text);
        return label ? label.get() : "";
    }
    static void on_open(GstWebRTCDataChannel* channel, gpointer data) {
        if (const auto self = held<Implementation>(data))
            self->change([&] { self->open[label_of(channel)] = true; });
    }
    static void on_close(GstWebRTCDataChannel* channel, gpointer data) {
        if (const auto self = held<Implementation>(data))
            self->change([&] { self->open[label_of(channel)] = false; });
    }
    static void on_text(GstWebRTCDataChannel* channel, const gchar* text, gpointer data) {
        if (const auto self = held<Implementation>(data))
            self->change([&] {
                self->messages.push_back({label_of(channel), false, text != nullptr ? text : ""});
            });
    }
    static void on_bytes(GstWebRTCDataChannel* channel, GBytes* bytes, gpointer data) {
        const auto self = held<Implementation>(data);
        gsize size = 0;
        const void* const start = bytes != nullptr ? g_bytes_get_data(bytes, &size) : nullptr;
        if (self)
            self->change([&] {
                self->messages.push_back({label_of(channel), true, {static_cast<const char*>(start), size}});
            });
    }

    template <class F>
    void change(F&& apply) {
        std::lock_guard lock(mutex);
        apply();
        changed.notify_all();
    }
};

}  // namespace svc::streamer
