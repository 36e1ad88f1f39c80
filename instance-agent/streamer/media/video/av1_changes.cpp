#include "instance-agent/streamer/media/video/av1_changes.h"

#include <gst/video/video.h>

#include <utility>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

namespace svc::streamer {
namespace {

Av1Changes& changes_of(gpointer data) {
    return **static_cast<std::shared_ptr<Av1Changes>*>(data);
}

GstPadProbeReturn av1_frame_comes(GstPad* pad, GstPadProbeInfo*, gpointer data) {
    const Ref<GstElement> encoder(gst_pad_get_parent_element(pad));
    changes_of(data).apply(encoder.get());
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn av1_frame_done(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
    if (GST_BUFFER_FLAG_IS_SET(gst_pad_probe_info_get_buffer(info), GST_BUFFER_FLAG_DELTA_UNIT))
        return GST_PAD_PROBE_OK;
    const Ref<GstElement> encoder(gst_pad_get_parent_element(pad));
    changes_of(data).key_frame_done(encoder.get());
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn av1_request_comes(GstPad*, GstPadProbeInfo* info, gpointer data) {
    if (gst_video_event_is_force_key_unit(gst_pad_probe_info_get_event(info)))
        changes_of(data).request_key_frame();
    return GST_PAD_PROBE_OK;
}

}  // namespace

void Av1Changes::apply(GstElement* encoder) {
    if (const std::uint32_t kbps = kbps_.exchange(0); kbps != 0)
        g_object_set(encoder, "target-bitrate", guint{kbps}, nullptr);
    const bool first = !std::exchange(begun_, true);
    if (!key_wanted_.exchange(false) || first || distance_ != 0) return;
    g_object_get(encoder, "keyframe-max-dist", &distance_, nullptr);
    g_object_set(encoder, "keyframe-max-dist", 0, nullptr);
}

void Av1Changes::key_frame_done(GstElement* encoder) {
    if (distance_ == 0) return;
    g_object_set(encoder, "keyframe-max-dist", std::exchange(distance_, 0), nullptr);
}

std::shared_ptr<Av1Changes> change_av1_between_frames(GstElement* encoder) {
    const auto changes = std::make_shared<Av1Changes>();
    const Ref<GstPad> sink(gst_element_get_static_pad(encoder, "sink"));
    const Ref<GstPad> src(gst_element_get_static_pad(encoder, "src"));
    add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, av1_frame_comes, changes);
    add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, av1_frame_done, changes);
    add_probe(src.get(), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, av1_request_comes, changes);
    return changes;
}

}  // namespace svc::streamer
