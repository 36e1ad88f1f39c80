#include "instance-agent/streamer/media/video/h264_probes.h"

#include <gst/video/video.h>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/video/access_units.h"

namespace svc::streamer {
namespace {

// Changes the caps in the answer to a query.
GstPadProbeReturn level_asked(GstPad*, GstPadProbeInfo* info, gpointer) {
    GstQuery* const query = gst_pad_probe_info_get_query(info);
    if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS) return GST_PAD_PROBE_OK;
    GstCaps* answer = nullptr;
    gst_query_parse_caps_result(query, &answer);
    if (answer == nullptr) return GST_PAD_PROBE_OK;
    const Ref<GstCaps> without(gst_caps_copy(answer));
    for (guint i = 0; i < gst_caps_get_size(without.get()); ++i)
        gst_structure_remove_field(gst_caps_get_structure(without.get(), i), "level");
    gst_query_set_caps_result(query, without.get());
    return GST_PAD_PROBE_OK;
}

// Replaces the bytes of a buffer and keeps its times and flags.
GstBuffer* with_bytes(GstBuffer* buffer, const Bytes& bytes) {
    GstBuffer* const replaced = gst_buffer_new_memdup(bytes.data(), bytes.size());
    gst_buffer_copy_into(replaced, buffer,
                         static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_METADATA | GST_BUFFER_COPY_META), 0,
                         static_cast<gsize>(-1));
    return replaced;
}

GstPadProbeReturn unit_comes(GstPad*, GstPadProbeInfo* info, gpointer data) {
    GstBuffer* const buffer = gst_pad_probe_info_get_buffer(info);
    GstMapInfo map;
    if (gst_buffer_map(buffer, &map, GST_MAP_READ) == FALSE) return GST_PAD_PROBE_DROP;
    const auto tidied = (*static_cast<std::shared_ptr<AccessUnits>*>(data))->tidy({map.data, map.size});
    gst_buffer_unmap(buffer, &map);
    if (!tidied) return GST_PAD_PROBE_DROP;
    info->data = with_bytes(buffer, *tidied);
    gst_buffer_unref(buffer);
    return GST_PAD_PROBE_OK;
}

// Otherwise the payloader sends parameter sets at once.
GstPadProbeReturn request_comes(GstPad*, GstPadProbeInfo* info, gpointer) {
    return gst_video_event_is_force_key_unit(gst_pad_probe_info_get_event(info)) ? GST_PAD_PROBE_DROP
                                                                                 : GST_PAD_PROBE_OK;
}

}  // namespace

void hide_level(GstElement* payloader) {
    const Ref<GstPad> sink(gst_element_get_static_pad(payloader, "sink"));
    const auto answered =
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PULL);
    gst_pad_add_probe(sink.get(), answered, level_asked, nullptr, nullptr);
}

void tidy_access_units(GstElement* element) {
    const Ref<GstPad> sink(gst_element_get_static_pad(element, "sink"));
    add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, unit_comes, std::make_shared<AccessUnits>());
    gst_pad_add_probe(sink.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, request_comes, nullptr, nullptr);
}

}  // namespace svc::streamer
