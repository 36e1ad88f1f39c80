#include "instance-agent/streamer/media/capture/capture_pipeline.h"

#include <fmt/format.h>
#include <gst/app/gstappsink.h>

namespace svc::streamer {
namespace {

std::string description_of(const MediaPlaces& places, const CapturePipeline::Form& form) {
    return fmt::format("{} ! {} ! appsink name=sink sync=false max-buffers=4",
                       screen_source_description(places, form.shape.fps, form.pointer), form.elements);
}

Ref<GstElement> pipeline_of(const std::string& description) {
    Ref<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
    gst_bin_add(GST_BIN(pipeline.get()), make_bin(description));
    return pipeline;
}

std::string bytes_of(GstSample* sample) {
    GstBuffer* const buffer = gst_sample_get_buffer(sample);
    std::string bytes(gst_buffer_get_size(buffer), '\0');
    gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
    return bytes;
}

std::size_t pixels(const PictureShape& shape) {
    return static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height);
}

}  // namespace

CapturePipeline::CapturePipeline(const MediaPlaces& places, const Form& form)
    : pace_(std::make_shared<FramePace>(pixels(form.shape))),
      pipeline_(pipeline_of(description_of(places, form))),
      sink_(element_of(pipeline_.get(), "sink")) {
    source_.emplace(pipeline_.get(), places, form.shape, pace_, form.first);
    if (const auto encoder = element_of(pipeline_.get(), "encoder")) pace_by_encoder(encoder.get(), pace_);
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return;
    source_->stop();
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    throw Error(ErrorCode::unavailable, "the display cannot be captured");
}

CapturePipeline::~CapturePipeline() {
    source_->stop();
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

std::optional<std::string> CapturePipeline::read(std::chrono::milliseconds longest) {
    const Ref<GstSample> sample(gst_app_sink_try_pull_sample(
        GST_APP_SINK(sink_.get()), static_cast<GstClockTime>(longest.count()) * GST_MSECOND));
    if (sample) return bytes_of(sample.get());
    check();
    return gst_app_sink_is_eos(GST_APP_SINK(sink_.get())) ? std::optional<std::string>("") : std::nullopt;
}

void CapturePipeline::hurry() {
    pace_->asked(FramePace::Moment::clock::now());
    source_->waker()();
}

// The source may wait for a change: it takes the event with its next picture.
void CapturePipeline::finish() {
    gst_element_send_event(pipeline_.get(), gst_event_new_eos());
    hurry();
}

void CapturePipeline::check() const {
    GstBus* const bus = gst_element_get_bus(pipeline_.get());
    const Ref<GstMessage> failure(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
    gst_object_unref(bus);
    if (!failure) return;
    GError* raw = nullptr;
    gst_message_parse_error(failure.get(), &raw, nullptr);
    const std::unique_ptr<GError, Free> error(raw);
    throw Error(ErrorCode::unavailable, std::string("the display cannot be captured: ") + error->message);
}

}  // namespace svc::streamer
