#include "instance-agent/streamer/media/video/display_encoder.h"

#include <fmt/format.h>

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

EncodedFrame frame_of(GstSample* sample, GstClockTime time) {
    GstBuffer* const buffer = gst_sample_get_buffer(sample);
    return {buffer, gst_sample_get_caps(sample), time,
            !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT)};
}

}  // namespace

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
    listen_to_encoder();
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

void DisplayEncoder::listen_to_encoder() {
    if (form_.codec == VideoCodec::h264) tidy_access_units(element_of(pipeline_.get(), "frames").get());
    const auto made = [takers = takers_](GstSample* sample, GstClockTime time) {
        for (const auto& taker : takers->present()) taker->take(frame_of(sample, time));
    };
    const auto failed = [takers = takers_](const std::string& element, const std::string& reason) {
        log::warning("media element failed", {{"element", element}, {"error", reason}});
        for (const auto& taker : takers->present()) taker->encoder_failed(reason);
    };
    listen(pipeline_.get(), "frames", {made, failed});
}

void DisplayEncoder::add(const std::shared_ptr<FrameTaker>& taker) {
    takers_->add(taker);
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
