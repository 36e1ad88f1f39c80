#include "instance-agent/streamer/media/sound/microphone_pipeline.h"

#include <gst/app/gstappsrc.h>

#include "instance-agent/streamer/media/sound/sound.h"

namespace svc::streamer {
namespace {

// Of packets that come faster than they are played, the oldest are dropped.
constexpr const char* packets =
    "appsrc name=packets is-live=true format=time do-timestamp=true max-buffers=10 max-bytes=0 "
    "leaky-type=downstream caps=\"audio/x-opus,channel-mapping-family=(int)0\"";

}  // namespace

MicrophonePipeline::MicrophonePipeline(const std::string& audio_server)
    : pipeline_(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr)))) {
    gst_bin_add(GST_BIN(pipeline_.get()), make_opus_microphone(audio_server, packets));
    packets_ = element_of(pipeline_.get(), "packets");
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return;
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    throw Error(ErrorCode::unavailable, "the guest takes no microphone");
}

MicrophonePipeline::~MicrophonePipeline() {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

void MicrophonePipeline::play(std::string_view packet) {
    GstBuffer* const buffer = gst_buffer_new_memdup(packet.data(), packet.size());
    gst_app_src_push_buffer(GST_APP_SRC(packets_.get()), buffer);
}

}  // namespace svc::streamer
