#include "instance-agent/streamer/media/gstreamer/encoder_output.h"

#include <gst/app/gstappsink.h>

#include <utility>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

namespace svc::streamer {
namespace {

// Encoders begin their times anywhere; the segment says where.
GstClockTime shared_time(GstSample* sample, GstElement* sink) {
    const GstClockTime running = gst_segment_to_running_time(gst_sample_get_segment(sample), GST_FORMAT_TIME,
                                                             GST_BUFFER_PTS(gst_sample_get_buffer(sample)));
    return gst_element_get_base_time(sink) + (GST_CLOCK_TIME_IS_VALID(running) ? running : 0);
}

GstFlowReturn on_sample(GstElement* sink, gpointer data) {
    const Ref<GstSample> sample(gst_app_sink_pull_sample(GST_APP_SINK(sink)));
    if (!sample || gst_sample_get_buffer(sample.get()) == nullptr) return GST_FLOW_OK;
    static_cast<const EncoderOutput*>(data)->made(sample.get(), shared_time(sample.get(), sink));
    return GST_FLOW_OK;
}

GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer data) {
    const Ref<GstMessage> owned(message);
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR) return GST_BUS_DROP;
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::unique_ptr<GError, Free> owned_error(error);
    static_cast<const EncoderOutput*>(data)->failed(GST_MESSAGE_SRC_NAME(message), error->message);
    return GST_BUS_DROP;
}

}  // namespace

void listen(GstElement* pipeline, const char* sink, EncoderOutput output) {
    auto for_messages = std::make_unique<EncoderOutput>(output);
    auto for_samples = std::make_unique<EncoderOutput>(std::move(output));
    const auto forget = [](gpointer data) { delete static_cast<EncoderOutput*>(data); };
    const auto forget_closure = [](gpointer data, GClosure*) { delete static_cast<EncoderOutput*>(data); };
    g_signal_connect_data(element_of(pipeline, sink).get(), "new-sample", G_CALLBACK(on_sample),
                          for_samples.release(), forget_closure, GConnectFlags{});
    const Ref<GstBus> bus(gst_element_get_bus(pipeline));
    gst_bus_set_sync_handler(bus.get(), on_message, for_messages.release(), forget);
}

}  // namespace svc::streamer
