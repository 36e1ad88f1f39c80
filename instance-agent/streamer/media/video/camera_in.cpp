#include "instance-agent/streamer/media/video/camera_in.h"

#include <fmt/format.h>
#include <gst/app/gstappsink.h>

#include "instance-agent/streamer/media/video/codec_forms.h"

namespace svc::streamer {

void CameraIn::set(Wish wish) {
    std::lock_guard lock(mutex_);
    wish_ = std::move(wish);
    apply();
}

GstElement* CameraIn::make_bin_for(const std::string& encoding_name) {
    const std::string decoder = decoder_description(encoding_name);
    if (decoder.empty()) return nullptr;
    GstElement* const bin = make_bin(
        decoder +
        " ! valve name=gate drop=true drop-mode=forward-sticky-events "
        "! queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream "
        "! videoconvertscale add-borders=true "
        "! capsfilter name=caps ! appsink name=frames sync=false async=false max-buffers=1 drop=true "
        "emit-signals=true");
    const auto frames = element_of(bin, "frames");
    connect(frames.get(), "new-sample", G_CALLBACK(&CameraIn::frame_came), shared_from_this());
    std::lock_guard lock(mutex_);
    gate_ = element_of(bin, "gate");
    caps_ = element_of(bin, "caps");
    apply();
    return bin;
}

void CameraIn::apply() {
    if (!gate_) return;
    const bool wanted = static_cast<bool>(wish_.sink);
    const auto caps = caps_of(wanted ? fmt::format("video/x-raw,format=RGBA,width={},height={},"
                                                   "pixel-aspect-ratio=1/1",
                                                   wish_.width, wish_.height)
                                     : "video/x-raw,format=RGBA");
    g_object_set(caps_.get(), "caps", caps.get(), nullptr);
    g_object_set(gate_.get(), "drop", wanted ? FALSE : TRUE, nullptr);
}

GstFlowReturn CameraIn::frame_came(GstElement* sink, gpointer data) {
    const Ref<GstSample> sample(gst_app_sink_pull_sample(GST_APP_SINK(sink)));
    const auto camera = held<CameraIn>(data);
    if (sample && camera) camera->deliver(sample.get());
    return GST_FLOW_OK;
}

// A frame that comes a little early counts as due: cameras are not exact, and the next one would come a whole
// interval late.
bool CameraIn::is_due() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> interval(wish_.fps > 0 ? 0.8 / wish_.fps : 0);
    if (now - delivered_ < interval) return false;
    delivered_ = now;
    return true;
}

// A frame of an older size may still arrive.
void CameraIn::deliver(GstSample* sample) {
    std::lock_guard lock(mutex_);
    GstMapInfo map{};
    GstBuffer* const buffer = gst_sample_get_buffer(sample);
    if (!wish_.sink || buffer == nullptr || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return;
    if (map.size == std::size_t{4} * wish_.width * wish_.height && is_due()) wish_.sink(map.data, map.size);
    gst_buffer_unmap(buffer, &map);
}

}  // namespace svc::streamer
