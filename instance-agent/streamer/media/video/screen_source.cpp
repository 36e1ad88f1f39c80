#include "instance-agent/streamer/media/video/screen_source.h"

#include <fmt/format.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <array>

namespace svc::streamer {
namespace {

constexpr const char* frames_description =
    "appsrc name=source is-live=true do-timestamp=true format=time max-buffers=1 max-bytes=0 "
    "leaky-type=downstream";

GstVideoFormat format_of(PixelFormat format) {
    switch (format) {
        case PixelFormat::rgba:
            return GST_VIDEO_FORMAT_RGBA;
        case PixelFormat::rgbx:
            return GST_VIDEO_FORMAT_RGBx;
        case PixelFormat::bgra:
            return GST_VIDEO_FORMAT_BGRA;
        case PixelFormat::bgrx:
            break;
    }
    return GST_VIDEO_FORMAT_BGRx;
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
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format_of(frame->format), frame->width,
                                   frame->height, 1, offsets.data(), strides.data());
    return buffer;
}

void push(GstElement* source, const PictureShape& shape, const std::shared_ptr<const RawFrame>& frame) {
    const auto caps = caps_of(fmt::format("video/x-raw,format={},width={},height={},framerate={}/1",
                                          gst_video_format_to_string(format_of(frame->format)), frame->width,
                                          frame->height, shape.fps));
    const Ref<GstBuffer> buffer(wrap(frame));
    const Ref<GstSample> sample(gst_sample_new(buffer.get(), caps.get(), nullptr, nullptr));
    gst_app_src_push_sample(GST_APP_SRC(source), sample.get());
}

GstPadProbeReturn screen_captured(GstPad*, GstPadProbeInfo*, gpointer data) {
    return (*static_cast<std::shared_ptr<ScreenGate>*>(data))->let_through() ? GST_PAD_PROBE_OK
                                                                             : GST_PAD_PROBE_DROP;
}

bool is_remote(const std::string& display) {
    return !display.empty() && display.front() != ':';
}

GstPadProbeReturn frame_encoded(GstPad*, GstPadProbeInfo* info, gpointer data) {
    (*static_cast<std::shared_ptr<FramePace>*>(data))
        ->encoded(gst_buffer_get_size(gst_pad_probe_info_get_buffer(info)));
    return GST_PAD_PROBE_OK;
}

std::shared_ptr<ScreenGate> watch_screen(GstElement* source, const std::string& display, int fps,
                                         std::shared_ptr<FramePace> pace) {
    auto gate = std::make_shared<ScreenGate>(display, fps, std::move(pace));
    g_object_set(source, "display-name", display.c_str(), "remote", gboolean{is_remote(display)}, nullptr);
    const Ref<GstPad> captured(gst_element_get_static_pad(source, "src"));
    add_probe(captured.get(), GST_PAD_PROBE_TYPE_BUFFER, screen_captured, gate);
    return gate;
}

}  // namespace

std::string screen_source_description(const MediaPlaces& places, int fps, Pointer pointer) {
    if (places.display.empty()) return frames_description;
    return fmt::format("ximagesrc name=source show-pointer={} use-damage=false ! video/x-raw,framerate={}/1",
                       pointer == Pointer::shown, fps);
}

ScreenSource::ScreenSource(GstElement* bin, const MediaPlaces& places, const PictureShape& shape,
                           std::shared_ptr<FramePace> pace, FirstFrame first) {
    const std::shared_ptr<GstElement> source(element_of(bin, "source"));
    if (!places.display.empty()) {
        screen_ = watch_screen(source.get(), places.display, shape.fps, std::move(pace));
        return;
    }
    const auto sink = [source, shape](const std::shared_ptr<const RawFrame>& frame) {
        push(source.get(), shape, frame);
    };
    socket_ = std::make_shared<FrameSocket>(places.frame_socket,
                                            FrameSocket::Shape{shape.width, shape.height, shape.fps}, sink,
                                            std::move(pace), first, places.guest_display);
}

void pace_by_encoder(GstElement* encoder, const std::shared_ptr<FramePace>& pace) {
    const Ref<GstPad> encoded(gst_element_get_static_pad(encoder, "src"));
    add_probe(encoded.get(), GST_PAD_PROBE_TYPE_BUFFER, frame_encoded, pace);
}

std::function<void()> ScreenSource::waker() const {
    return [weak_socket = std::weak_ptr<FrameSocket>(socket_),
            weak_screen = std::weak_ptr<ScreenGate>(screen_)] {
        if (const auto socket = weak_socket.lock()) socket->wake();
        if (const auto screen = weak_screen.lock()) screen->wake();
    };
}

void ScreenSource::stop() {
    socket_.reset();
    if (screen_) screen_->stop();
}

}  // namespace svc::streamer
