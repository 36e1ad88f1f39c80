#include "instance-agent/streamer/media/meters/probes.h"

#include <gst/rtp/gstrtpbuffer.h>
#include <gst/video/video.h>

#include <algorithm>
#include <mutex>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/even_times.h"

namespace svc::streamer {
namespace {

template <class T>
T& meter_of(gpointer data) {
    return **static_cast<std::shared_ptr<T>*>(data);
}

Moment now() {
    return std::chrono::steady_clock::now();
}

struct Packet {
    std::uint32_t ssrc = 0;
    std::uint16_t sequence = 0;
    std::size_t payload = 0;
};

template <class F>
void each_packet(GstBuffer* buffer, F&& handle) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    if (!gst_rtp_buffer_map(buffer, GST_MAP_READ, &rtp)) return;
    const Packet packet{gst_rtp_buffer_get_ssrc(&rtp), gst_rtp_buffer_get_seq(&rtp),
                        gst_rtp_buffer_get_payload_len(&rtp)};
    gst_rtp_buffer_unmap(&rtp);
    handle(packet);
}

// Payloaders push the packets of one frame as a list.
template <class F>
void each_packet(GstPadProbeInfo* info, F&& handle) {
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER)
        return each_packet(gst_pad_probe_info_get_buffer(info), handle);
    GstBufferList* const list = gst_pad_probe_info_get_buffer_list(info);
    for (guint i = 0; i < gst_buffer_list_length(list); ++i)
        each_packet(gst_buffer_list_get(list, i), handle);
}

constexpr auto packets =
    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST);

GstPadProbeReturn frame_begun(GstPad*, GstPadProbeInfo*, gpointer data) {
    meter_of<EncodeMeter>(data).begun(now());
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn frame_done(GstPad*, GstPadProbeInfo* info, gpointer data) {
    GstBuffer* const buffer = gst_pad_probe_info_get_buffer(info);
    const bool key_frame = !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    meter_of<EncodeMeter>(data).done(key_frame, now());
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn packets_made(GstPad*, GstPadProbeInfo* info, gpointer data) {
    each_packet(info,
                [&](const Packet& packet) { meter_of<SendMeter>(data).payloaded(packet.sequence, now()); });
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn packets_sent(GstPad*, GstPadProbeInfo* info, gpointer data) {
    SendMeters& meters = meter_of<SendMeters>(data);
    each_packet(info, [&](const Packet& packet) {
        for (const auto& meter : {meters.video, meters.audio})
            if (meter && meter->ssrc() == packet.ssrc)
                return meter->sent(packet.sequence, packet.payload, now());
        if (meters.video) meters.video->sent_again(packet.payload);
    });
    return GST_PAD_PROBE_OK;
}

// Limits a client's requests for key frames: a request beyond the limit waits for a later frame. The
// encoders' own limit does not work with x264enc of GStreamer 1.22. Used on the threads of encoder and
// session.
class RequestLimit {
  public:
    explicit RequestLimit(std::function<void()> asked) : asked_(std::move(asked)) {}

    bool take() {
        std::lock_guard lock(mutex_);
        refill();
        waits_ = left_ < 1;
        if (!waits_) left_ -= 1;
        return !waits_;
    }
    bool take_waiting() {
        std::lock_guard lock(mutex_);
        refill();
        return waits_ && left_ >= 1;
    }
    void asked() const { asked_(); }

  private:
    void refill() {
        const std::chrono::duration<double> since = now() - last_;
        left_ = std::min(most, left_ + since.count() * each_second);
        last_ = now();
    }

    static constexpr double most = 3, each_second = 4;
    std::function<void()> asked_;
    std::mutex mutex_;
    double left_ = most;
    bool waits_ = false;
    Moment last_ = now();
};

GstPadProbeReturn request_came(GstPad*, GstPadProbeInfo* info, gpointer data) {
    if (!gst_video_event_is_force_key_unit(gst_pad_probe_info_get_event(info))) return GST_PAD_PROBE_OK;
    RequestLimit& limit = meter_of<RequestLimit>(data);
    limit.asked();
    return limit.take() ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

GstPadProbeReturn frame_comes(GstPad* pad, GstPadProbeInfo*, gpointer data) {
    if (meter_of<RequestLimit>(data).take_waiting()) {
        const Ref<GstElement> encoder(gst_pad_get_parent_element(pad));
        request_key_frame(encoder.get());
    }
    return GST_PAD_PROBE_OK;
}

GstBuffer* writable_buffer(GstPadProbeInfo* info) {
    GstBuffer* const buffer = gst_buffer_make_writable(gst_pad_probe_info_get_buffer(info));
    info->data = buffer;
    return buffer;
}

GstPadProbeReturn enters_evenly(GstPad*, GstPadProbeInfo* info, gpointer data) {
    GstBuffer* const buffer = writable_buffer(info);
    EvenTimes& times = meter_of<EvenTimes>(data);
    GST_BUFFER_PTS(buffer) = times.enter(GST_BUFFER_PTS(buffer));
    GST_BUFFER_DURATION(buffer) = times.interval();  // encoders also use the end of a frame
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn leaves_truly(GstPad*, GstPadProbeInfo* info, gpointer data) {
    GstBuffer* const buffer = writable_buffer(info);
    GST_BUFFER_PTS(buffer) = meter_of<EvenTimes>(data).leave(GST_BUFFER_PTS(buffer));
    GST_BUFFER_DTS(buffer) = GST_BUFFER_PTS(buffer);
    return GST_PAD_PROBE_OK;
}

bool is_rtp_input(GstPad* pad) {
    return g_str_has_prefix(GST_OBJECT_NAME(pad), "rtp_sink");
}

}  // namespace

void meter_encoder(GstElement* encoder, const std::shared_ptr<EncodeMeter>& meter) {
    const Ref<GstPad> sink(gst_element_get_static_pad(encoder, "sink"));
    const Ref<GstPad> src(gst_element_get_static_pad(encoder, "src"));
    add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, frame_begun, meter);
    add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, frame_done, meter);
}

void hide_rests(GstElement* encoder, int fps) {
    const Ref<GstPad> sink(gst_element_get_static_pad(encoder, "sink"));
    const Ref<GstPad> src(gst_element_get_static_pad(encoder, "src"));
    const auto times = std::make_shared<EvenTimes>(GST_SECOND / static_cast<guint64>(fps));
    add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, enters_evenly, times);
    add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, leaves_truly, times);
}

void limit_key_frames(GstElement* encoder, std::function<void()> asked) {
    const Ref<GstPad> sink(gst_element_get_static_pad(encoder, "sink"));
    const Ref<GstPad> src(gst_element_get_static_pad(encoder, "src"));
    const auto limit = std::make_shared<RequestLimit>(std::move(asked));
    add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, frame_comes, limit);
    add_probe(src.get(), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, request_came, limit);
}

// Sent to the encoder's source pad, like the receiver's requests.
void request_key_frame(GstElement* encoder) {
    const Ref<GstPad> src(gst_element_get_static_pad(encoder, "src"));
    gst_pad_send_event(src.get(), gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0));
}

void meter_payloader(GstElement* payloader, const std::shared_ptr<SendMeter>& meter) {
    g_object_set(payloader, "ssrc", meter->ssrc(), nullptr);
    const Ref<GstPad> src(gst_element_get_static_pad(payloader, "src"));
    add_probe(src.get(), packets, packets_made, meter);
}

void meter_network(GstElement* encryption, const std::shared_ptr<SendMeters>& meters) {
    const auto pad_added = [](GstElement*, GstPad* pad, gpointer data) {
        const auto held_meters = held<SendMeters>(data);
        if (held_meters && is_rtp_input(pad)) add_probe(pad, packets, packets_sent, held_meters);
    };
    connect(encryption, "pad-added", G_CALLBACK(+pad_added), meters);
    const auto each = [](GstElement*, GstPad* pad, gpointer data) -> gboolean {
        if (is_rtp_input(pad))
            add_probe(pad, packets, packets_sent, *static_cast<std::shared_ptr<SendMeters>*>(data));
        return TRUE;
    };
    std::shared_ptr<SendMeters> copy = meters;
    gst_element_foreach_sink_pad(encryption, each, &copy);
}

}  // namespace svc::streamer
