#include "instance-agent/streamer/media/video/display_encoder.h"

#include <fmt/format.h>
#include <gst/app/gstappsink.h>

#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/media/video/h264_probes.h"
#include "libsvc/base/log.h"

namespace svc::streamer {
namespace {

// Players take small video without colour information for BT.601, larger video for BT.709; VP9 says which it
// is, VP8 is BT.601.
std::string raw_caps(const EncoderForm& form, const PictureShape& shape) {
    const char* const colours = form.codec != VideoCodec::vp8 && shape.height > 576 ? "bt709" : "bt601";
    return fmt::format("video/x-raw,format={},width={},height={},pixel-aspect-ratio=1/1,colorimetry={}",
                       form.raw_format, shape.width, shape.height, colours);
}

std::string description(const MediaPlaces& places, const EncoderForm& form, const PictureShape& shape,
                        std::uint32_t kbps) {
    return fmt::format(
        "{} ! valve name=gate drop=true drop-mode=forward-sticky-events "
        "! queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream "
        "! videoconvertscale add-borders=true method=nearest-neighbour dither=none chroma-mode=none ! {} ! "
        "{} ! appsink name=frames sync=false async=false emit-signals=true max-buffers=4",
        screen_source_description(places, shape.fps, Pointer::shown), raw_caps(form, shape),
        encoder_description(form, shape, kbps, properties_of(form)));
}

Ref<GstElement> pipeline_of(const std::string& elements) {
    Ref<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
    gst_bin_add(GST_BIN(pipeline.get()), make_bin(elements));
    return pipeline;
}

std::size_t budget(std::uint32_t kbps, int fps) {
    return std::size_t{kbps} * 1000 / 8 / static_cast<std::size_t>(fps);
}

std::size_t pixels(const PictureShape& shape) {
    return static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height);
}

// Encoders begin their times anywhere; the segment says where.
std::optional<EncodedFrame> frame_of(GstSample* sample, GstElement* sink) {
    GstBuffer* const buffer = gst_sample_get_buffer(sample);
    if (buffer == nullptr) return std::nullopt;
    const GstClockTime running =
        gst_segment_to_running_time(gst_sample_get_segment(sample), GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    return EncodedFrame{buffer, gst_sample_get_caps(sample),
                        gst_element_get_base_time(sink) + (GST_CLOCK_TIME_IS_VALID(running) ? running : 0),
                        !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT)};
}

}  // namespace

std::vector<std::shared_ptr<FrameTaker>> DisplayEncoder::Audience::present() {
    return takers.with([](auto& weak) {
        std::erase_if(weak, [](const auto& one) { return one.expired(); });
        std::vector<std::shared_ptr<FrameTaker>> present;
        for (const auto& one : weak)
            if (auto taker = one.lock()) present.push_back(std::move(taker));
        return present;
    });
}

DisplayEncoder::DisplayEncoder(const MediaPlaces& places, const EncoderForm& form, const PictureShape& shape,
                               std::uint32_t kbps)
    : form_(form),
      fps_(shape.fps),
      kbps_(kbps),
      pipeline_(pipeline_of(description(places, form, shape, kbps))),
      gate_(element_of(pipeline_.get(), "gate")),
      encoder_(element_of(pipeline_.get(), "encoder")),
      pace_(std::make_shared<FramePace>(pixels(shape))) {
    pace_->set_budget(budget(kbps, shape.fps));
    meter_encoder(encoder_.get(), encoded_);
    listen();
    source_.emplace(pipeline_.get(), places, shape, pace_);
    pace_by_encoder(encoder_.get(), pace_);
    wake_at_requests();
    if (form.codec != VideoCodec::h264) hide_rests(encoder_.get(), shape.fps);
    if (form.codec == VideoCodec::av1) av1_changes_ = change_av1_between_frames(encoder_.get());
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return;
    source_->stop();
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    throw Error(ErrorCode::unavailable, "the display cannot be captured");
}

DisplayEncoder::~DisplayEncoder() {
    source_->stop();
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

void DisplayEncoder::listen() {
    const auto sink = element_of(pipeline_.get(), "frames");
    if (form_.codec == VideoCodec::h264) tidy_access_units(sink.get());
    connect(sink.get(), "new-sample", G_CALLBACK(&DisplayEncoder::on_sample), audience_);
    const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    const auto destroy = [](gpointer data) { delete static_cast<std::weak_ptr<Audience>*>(data); };
    gst_bus_set_sync_handler(bus.get(), &DisplayEncoder::on_message, new std::weak_ptr<Audience>(audience_),
                             destroy);
}

GstFlowReturn DisplayEncoder::on_sample(GstElement* sink, gpointer data) {
    const Ref<GstSample> sample(gst_app_sink_pull_sample(GST_APP_SINK(sink)));
    const auto audience = held<Audience>(data);
    const auto frame = sample && audience ? frame_of(sample.get(), sink) : std::nullopt;
    if (!frame) return GST_FLOW_OK;
    for (const auto& taker : audience->present()) taker->take(*frame);
    return GST_FLOW_OK;
}

GstBusSyncReply DisplayEncoder::on_message(GstBus*, GstMessage* message, gpointer data) {
    const Ref<GstMessage> owned(message);
    const auto audience = held<Audience>(data);
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || !audience) return GST_BUS_DROP;
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::unique_ptr<GError, Free> owned_error(error);
    log::warning("media element failed",
                 {{"element", GST_MESSAGE_SRC_NAME(message)}, {"error", error->message}});
    for (const auto& taker : audience->present()) taker->encoder_failed(error->message);
    return GST_BUS_DROP;
}

void DisplayEncoder::add(const std::shared_ptr<FrameTaker>& taker) {
    audience_->takers.with([&](auto& takers) { takers.push_back(taker); });
}

// When the guest draws nothing, its last frame is sent again.
void DisplayEncoder::wake_at_requests() {
    limit_key_frames(encoder_.get(), [pace = pace_, wake = source_->waker()] {
        pace->asked(FramePace::Moment::clock::now());
        wake();
    });
}

void DisplayEncoder::begin() {
    g_object_set(gate_.get(), "drop", FALSE, nullptr);
    request_key_frame();
}

void DisplayEncoder::set_kbps(std::uint32_t kbps) {
    kbps_ = kbps;
    pace_->set_budget(budget(kbps, fps_));
    if (av1_changes_) return av1_changes_->set_kbps(kbps);
    g_object_set(encoder_.get(), std::string(form_.bitrate_property).c_str(),
                 guint{kbps * (1000 / form_.bitrate_unit)}, nullptr);
}

std::function<void()> DisplayEncoder::requester() const {
    return [encoder = encoder_] { streamer::request_key_frame(encoder.get()); };
}

void DisplayEncoder::add_to(StreamStats& stats) const {
    stats.encoder = form_.element;
    stats.gpu_encoder = form_.gpu;
    encoded_->add_to(stats);
}

}  // namespace svc::streamer
