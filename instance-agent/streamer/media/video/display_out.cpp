#include "instance-agent/streamer/media/video/display_out.h"

#include <fmt/format.h>
#include <gst/app/gstappsrc.h>
#include <gst/rtp/gstrtphdrext.h>
#include <gst/video/video.h>

#include <array>

#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/media/video/h264_probes.h"

namespace svc::streamer {
namespace {

std::string source_description(const MediaPlaces& places, const PictureShape& shape) {
    if (places.display.empty())
        return "appsrc name=source is-live=true do-timestamp=true format=time max-buffers=1 max-bytes=0 "
               "leaky-type=downstream";
    return fmt::format(
        "ximagesrc name=source show-pointer=true use-damage=false ! video/x-raw,framerate={}/1", shape.fps);
}

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
        source_description(places, shape), raw_caps(form, shape),
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

// The buffer keeps the frame alive until the pipeline releases it.
GstBuffer* wrap(const std::shared_ptr<const RawFrame>& frame) {
    const gsize size = gsize{frame->stride} * frame->height;
    const auto release = [](gpointer held) { delete static_cast<std::shared_ptr<const RawFrame>*>(held); };
    GstBuffer* const buffer =
        gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, const_cast<std::uint8_t*>(frame->pixels.get()),
                                    size, 0, size, new std::shared_ptr<const RawFrame>(frame), release);
    std::array<gsize, GST_VIDEO_MAX_PLANES> offsets{};
    std::array<gint, GST_VIDEO_MAX_PLANES> strides{static_cast<gint>(frame->stride)};
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGBA, frame->width,
                                   frame->height, 1, offsets.data(), strides.data());
    return buffer;
}

void push(GstElement* source, const PictureShape& shape, const std::shared_ptr<const RawFrame>& frame) {
    const auto caps = caps_of(fmt::format("video/x-raw,format=RGBA,width={},height={},framerate={}/1",
                                          frame->width, frame->height, shape.fps));
    const Ref<GstBuffer> buffer(wrap(frame));
    const Ref<GstSample> sample(gst_sample_new(buffer.get(), caps.get(), nullptr, nullptr));
    gst_app_src_push_sample(GST_APP_SRC(source), sample.get());
}

GstPadProbeReturn screen_captured(GstPad*, GstPadProbeInfo*, gpointer data) {
    return (*static_cast<std::shared_ptr<ScreenGate>*>(data))->let_through() ? GST_PAD_PROBE_OK
                                                                             : GST_PAD_PROBE_DROP;
}

GstPadProbeReturn frame_encoded(GstPad*, GstPadProbeInfo* info, gpointer data) {
    (*static_cast<std::shared_ptr<FramePace>*>(data))
        ->encoded(gst_buffer_get_size(gst_pad_probe_info_get_buffer(info)));
    return GST_PAD_PROBE_OK;
}

std::size_t budget(std::uint32_t kbps, int fps) {
    return std::size_t{kbps} * 1000 / 8 / static_cast<std::size_t>(fps);
}

bool is_remote(const std::string& display) {
    return !display.empty() && display.front() != ':';
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
    if (places.display.empty())
        open_socket(places.frame_socket, shape);
    else
        open_screen(places.display, shape);
    const Ref<GstPad> encoded(gst_element_get_static_pad(encoder_.get(), "src"));
    add_probe(encoded.get(), GST_PAD_PROBE_TYPE_BUFFER, frame_encoded, pace_);
    wake_at_requests();
    if (form.codec != VideoCodec::h264) hide_rests(encoder_.get(), shape.fps);
}

// When the guest draws nothing, its last frame is sent again.
void DisplayOut::wake_at_requests() {
    limit_key_frames(encoder_.get(), [pace = pace_, weak_socket = std::weak_ptr<FrameSocket>(socket_),
                                      weak_screen = std::weak_ptr<ScreenGate>(screen_)] {
        pace->asked(FramePace::Moment::clock::now());
        if (const auto socket = weak_socket.lock()) socket->wake();
        if (const auto screen = weak_screen.lock()) screen->wake();
    });
}

void DisplayOut::open_screen(const std::string& display, const PictureShape& shape) {
    screen_ = std::make_shared<ScreenGate>(display, shape.fps, pace_);
    const auto source = element_of(bin(), "source");
    g_object_set(source.get(), "display-name", display.c_str(), "remote", gboolean{is_remote(display)},
                 nullptr);
    const Ref<GstPad> captured(gst_element_get_static_pad(source.get(), "src"));
    add_probe(captured.get(), GST_PAD_PROBE_TYPE_BUFFER, screen_captured, screen_);
}

void DisplayOut::open_socket(const std::string& path, const PictureShape& shape) {
    const std::shared_ptr<GstElement> source(element_of(bin(), "source"));
    socket_ = std::make_shared<FrameSocket>(
        path, FrameSocket::Shape{shape.width, shape.height, shape.fps},
        [source, shape](const std::shared_ptr<const RawFrame>& frame) { push(source.get(), shape, frame); },
        pace_);
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
    socket_.reset();
    if (screen_) screen_->stop();
}

void DisplayOut::add_to(StreamStats& stats) const {
    stats.encoder = form_.element;
    stats.gpu_encoder = form_.gpu;
    encoded_->add_to(stats);
    sent_->add_to(stats);
}

}  // namespace svc::streamer
