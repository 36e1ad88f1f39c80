#include "instance-agent/streamer/media/video/codecs.h"

#include <algorithm>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

namespace svc::streamer {
namespace {

bool is_allowed(const EncoderForm& form, VideoEncoder wish) {
    return wish == VideoEncoder::gpu_preferred || form.gpu == (wish == VideoEncoder::gpu);
}

Ref<GstElementFactory> factory_of(const EncoderForm& form) {
    return Ref<GstElementFactory>(gst_element_factory_find(std::string(form.element).c_str()));
}

Ref<GstElement> make_element(GstElementFactory* factory) {
    GstElement* const element = gst_element_factory_create(factory, nullptr);
    return Ref<GstElement>(element == nullptr ? nullptr : GST_ELEMENT(gst_object_ref_sink(element)));
}

bool pad_allows(GstElement* element, const char* name, const std::string& text) {
    const Ref<GstPad> pad(gst_element_get_static_pad(element, name));
    if (!pad) return false;
    const auto wanted = caps_of(text);
    const Ref<GstCaps> able(gst_pad_query_caps(pad.get(), nullptr));
    return gst_caps_can_intersect(able.get(), wanted.get()) != FALSE;
}

// An encoder of a GPU opens its device when it gets ready, and what it can encode depends on the device.
bool is_usable(const EncoderForm& form) {
    const auto factory = factory_of(form);
    if (!factory || !form.gpu) return factory != nullptr;
    const auto encoder = make_element(factory.get());
    if (!encoder) return false;
    const bool usable =
        gst_element_set_state(encoder.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS &&
        pad_allows(encoder.get(), "sink", "video/x-raw,format=" + std::string(form.raw_format)) &&
        pad_allows(encoder.get(), "src", encoded_caps(form.codec));
    gst_element_set_state(encoder.get(), GST_STATE_NULL);
    return usable;
}

bool can_encode(const EncoderForm& form, VideoCodec codec, VideoEncoder wish) {
    return form.codec == codec && is_allowed(form, wish) && is_usable(form);
}

}  // namespace

void start_media() {
    GError* error = nullptr;
    if (gst_init_check(nullptr, nullptr, &error)) return;
    const std::unique_ptr<GError, Free> owned(error);
    throw Error(ErrorCode::unsupported,
                std::string("media cannot be started: ") + (error != nullptr ? error->message : "unknown"));
}

std::vector<EncoderForm> usable_encoders(VideoCodec codec, VideoEncoder wish) {
    std::vector<EncoderForm> usable;
    for (const EncoderForm& form : encoder_forms())
        if (can_encode(form, codec, wish)) usable.push_back(form);
    return usable;
}

std::optional<EncoderForm> find_encoder(VideoCodec codec, VideoEncoder wish) {
    const auto forms = encoder_forms();
    const auto found =
        std::ranges::find_if(forms, [&](const EncoderForm& form) { return can_encode(form, codec, wish); });
    return found == forms.end() ? std::nullopt : std::optional(*found);
}

PropertyTest properties_of(const EncoderForm& form) {
    const auto factory = factory_of(form);
    const std::shared_ptr<GstElement> encoder(factory ? make_element(factory.get()) : nullptr);
    return [encoder](const std::string& name) {
        return encoder &&
               g_object_class_find_property(G_OBJECT_GET_CLASS(encoder.get()), name.c_str()) != nullptr;
    };
}

std::vector<VideoCodec> encodable_codecs(VideoEncoder wish) {
    std::vector<VideoCodec> codecs;
    for (const VideoCodec codec : {VideoCodec::h264, VideoCodec::vp8, VideoCodec::vp9, VideoCodec::av1})
        if (find_encoder(codec, wish)) codecs.push_back(codec);
    if (!codecs.empty()) return codecs;
    throw Error(ErrorCode::unsupported,
                wish == VideoEncoder::gpu ? "there is no video encoder of a GPU, which the application needs"
                                          : "there is no video encoder");
}

std::vector<VideoCodec> codecs_to_offer(const std::vector<VideoCodec>& preferred, VideoEncoder wish) {
    std::vector<VideoCodec> codecs = encodable_codecs(wish);
    std::erase_if(codecs, [](VideoCodec codec) { return payloader_description(codec).empty(); });
    if (codecs.empty()) throw Error(ErrorCode::unsupported, "there is no video encoder for WebRTC");
    return preferred_first(std::move(codecs), preferred);
}

}  // namespace svc::streamer
