#include "instance-agent/streamer/media/video/codecs.h"

#include <algorithm>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

namespace svc::streamer {
namespace {

bool is_allowed(const EncoderForm& form, VideoEncoder wish) {
    return wish == VideoEncoder::gpu_preferred || form.gpu == (wish == VideoEncoder::gpu);
}

// An encoder of a GPU opens its device when it gets ready.
bool is_usable(const EncoderForm& form) {
    const Ref<GstElementFactory> factory(gst_element_factory_find(std::string(form.element).c_str()));
    if (!factory || !form.gpu) return factory != nullptr;
    const Ref<GstElement> encoder(
        GST_ELEMENT(gst_object_ref_sink(gst_element_factory_create(factory.get(), nullptr))));
    const bool usable = gst_element_set_state(encoder.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS;
    gst_element_set_state(encoder.get(), GST_STATE_NULL);
    return usable;
}

}  // namespace

void start_media() {
    GError* error = nullptr;
    if (gst_init_check(nullptr, nullptr, &error)) return;
    const std::unique_ptr<GError, Free> owned(error);
    throw Error(ErrorCode::unsupported,
                std::string("media cannot be started: ") + (error != nullptr ? error->message : "unknown"));
}

std::optional<EncoderForm> find_encoder(VideoCodec codec, VideoEncoder wish) {
    const auto forms = encoder_forms();
    const auto found = std::ranges::find_if(forms, [&](const EncoderForm& form) {
        return form.codec == codec && is_allowed(form, wish) && is_usable(form);
    });
    return found == forms.end() ? std::nullopt : std::optional(*found);
}

std::vector<VideoCodec> encodable_codecs(VideoEncoder wish) {
    std::vector<VideoCodec> codecs;
    for (const VideoCodec codec : {VideoCodec::h264, VideoCodec::vp8})
        if (find_encoder(codec, wish)) codecs.push_back(codec);
    if (!codecs.empty()) return codecs;
    throw Error(ErrorCode::unsupported,
                wish == VideoEncoder::gpu ? "there is no video encoder of a GPU, which the application needs"
                                          : "there is no video encoder");
}

std::vector<VideoCodec> codecs_to_offer(const std::vector<VideoCodec>& preferred, VideoEncoder wish) {
    std::vector<VideoCodec> codecs = encodable_codecs(wish);
    const auto place = [&](VideoCodec codec) {
        return std::find(preferred.begin(), preferred.end(), codec) - preferred.begin();
    };
    std::stable_sort(codecs.begin(), codecs.end(),
                     [&](VideoCodec a, VideoCodec b) { return place(a) < place(b); });
    return codecs;
}

}  // namespace svc::streamer
