#include "instance-agent/streamer/media/video/codecs.h"

#include <algorithm>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/video/codec_forms.h"

namespace svc::streamer {
namespace {

bool is_installed(std::string_view element) {
    return Ref<GstElementFactory>(gst_element_factory_find(std::string(element).c_str())) != nullptr;
}

std::vector<VideoCodec> available() {
    std::vector<VideoCodec> codecs;
    for (const VideoCodec codec : {VideoCodec::h264, VideoCodec::vp8})
        if (is_installed(encoder_element(codec))) codecs.push_back(codec);
    return codecs;
}

}  // namespace

std::vector<VideoCodec> start_media() {
    GError* error = nullptr;
    if (!gst_init_check(nullptr, nullptr, &error)) {
        const std::unique_ptr<GError, Free> owned(error);
        throw Error(ErrorCode::unsupported, std::string("media cannot be started: ") +
                                                (error != nullptr ? error->message : "unknown"));
    }
    return available();
}

std::vector<VideoCodec> codecs_to_offer(const std::vector<VideoCodec>& preferred) {
    std::vector<VideoCodec> codecs = available();
    if (codecs.empty()) throw Error(ErrorCode::unsupported, "there is no video encoder");
    const auto place = [&](VideoCodec codec) {
        return std::find(preferred.begin(), preferred.end(), codec) - preferred.begin();
    };
    std::stable_sort(codecs.begin(), codecs.end(),
                     [&](VideoCodec a, VideoCodec b) { return place(a) < place(b); });
    return codecs;
}

}  // namespace svc::streamer
