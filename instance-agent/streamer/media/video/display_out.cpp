#include "instance-agent/streamer/media/video/display_out.h"

#include <fmt/format.h>
#include <gst/rtp/gstrtphdrext.h>

#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/media/video/h264_probes.h"

namespace svc::streamer {
namespace {

// Players take small H.264 video without colour information for BT.601, larger video for BT.709; VP8 is
// BT.601.
std::string raw_caps(const EncoderForm& form, const PictureShape& shape) {
    const char* const colours = form.codec == VideoCodec::h264 && shape.height > 576 ? "bt709" : "bt601";
    return fmt::format("video/x-raw,format={},width={},height={},pixel-aspect-ratio=1/1,colorimetry={}",
                       form.raw_format, shape.width, shape.height, colours);
}

std::string description(const MediaPlaces& places, const EncoderForm& form, const PictureShape& shape,
                        std::uint32_t kbps) {
    return fmt::format(
        "{} ! valve name=gate drop=true drop-mode=forward-sticky-events "
        "! queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream "
        "! videoconvertscale add-borders=true method=nearest-neighbour dither=none chroma-mode=none ! {} ! "
        "{}",
        screen_source_description(places, shape.fps, Pointer::shown), raw_caps(form, shape),
        encoder_description(form, shape, kbps, properties_of(form)));
}

void add_transport_cc(GstElement* payloader) {
    const std::string uri(transport_cc_uri);
    GstRTPHeaderExtension* const extension = gst_rtp_header_extension_create_from_uri(uri.c_str());
    if (extension == nullptr) return;
    gst_rtp_header_extension_set_id(extension, transport_cc_extension);
    g_signal_emit_by_name(payloader, "add-extension", extension);
    gst_object_unref(extension);
}

std::size_t budget(std::uint32_t kbps, int fps) {
    return std::size_t{kbps} * 1000 / 8 / static_cast<std::size_t>(fps);
}

}  // namespace

DisplayOut::DisplayOut(const MediaPlaces& places, const EncoderForm& form, const PictureShape& shape,
                       std::uint32_t kbps, std::shared_ptr<SendMeter> sent)
    : form_(form),
      fps_(shape.fps),
      bin_(GST_ELEMENT(gst_object_ref_sink(make_bin(description(places, form, shape, kbps))))),
      sent_(std::move(sent)),
      pace_(std::make_shared<FramePace>(static_cast<std::size_t>(shape.width) *
                                        static_cast<std::size_t>(shape.height))) {
    pace_->set_budget(budget(kbps, shape.fps));
    encoder_ = element_of(bin(), "encoder");
    gate_ = element_of(bin(), "gate");
    const auto payloader = element_of(bin(), "payloader");
    add_transport_cc(payloader.get());
    meter_encoder(encoder_.get(), encoded_);
    meter_payloader(payloader.get(), sent_);
    if (form.codec == VideoCodec::h264) {
        hide_level(payloader.get());
        tidy_access_units(payloader.get());
    }
    source_.emplace(bin(), places, shape, pace_);
    pace_by_encoder(encoder_.get(), pace_);
    wake_at_requests();
    if (form.codec != VideoCodec::h264) hide_rests(encoder_.get(), shape.fps);
}

// When the guest draws nothing, its last frame is sent again.
void DisplayOut::wake_at_requests() {
    limit_key_frames(encoder_.get(), [pace = pace_, wake = source_->waker()] {
        pace->asked(FramePace::Moment::clock::now());
        wake();
    });
}

void DisplayOut::begin() {
    g_object_set(gate_.get(), "drop", FALSE, nullptr);
    request_key_frame();
}

void DisplayOut::set_kbps(std::uint32_t kbps) {
    pace_->set_budget(budget(kbps, fps_));
    g_object_set(encoder_.get(), std::string(form_.bitrate_property).c_str(),
                 guint{kbps * (1000 / form_.bitrate_unit)}, nullptr);
}

void DisplayOut::request_key_frame() {
    streamer::request_key_frame(encoder_.get());
}

void DisplayOut::stop() {
    source_->stop();
}

void DisplayOut::add_to(StreamStats& stats) const {
    stats.encoder = form_.element;
    stats.gpu_encoder = form_.gpu;
    encoded_->add_to(stats);
    sent_->add_to(stats);
}

}  // namespace svc::streamer
