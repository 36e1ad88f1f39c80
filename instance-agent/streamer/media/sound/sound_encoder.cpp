#include "instance-agent/streamer/media/sound/sound_encoder.h"

#include <optional>

#include "instance-agent/streamer/media/sound/sound.h"
#include "libsvc/base/log.h"

namespace svc::streamer {
namespace {

constexpr gsize silence_bytes = 2;  // of a packet that says only that nothing is sent (DTX)

std::optional<SoundPacket> packet_of(GstSample* sample, GstClockTime time) {
    GstBuffer* const buffer = gst_sample_get_buffer(sample);
    if (gst_buffer_get_size(buffer) <= silence_bytes) return std::nullopt;
    const auto bytes = std::make_shared<std::string>(gst_buffer_get_size(buffer), '\0');
    gst_buffer_extract(buffer, 0, bytes->data(), bytes->size());
    return SoundPacket{static_cast<std::int64_t>(GST_TIME_AS_USECONDS(time)), bytes};
}

}  // namespace

SoundEncoder::SoundEncoder(const std::string& server)
    : pipeline_(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr)))) {
    gst_bin_add(GST_BIN(pipeline_.get()),
                make_opus_sound(server, "appsink name=packets sync=false async=false emit-signals=true"));
    const auto made = [audience = audience_](GstSample* sample, GstClockTime time) {
        const auto packet = packet_of(sample, time);
        if (!packet) return;
        for (const auto& taker : audience->takers.present()) taker->take(*packet);
    };
    // The guest's sound server has gone, say: pictures go on, and the next client gets another encoder.
    const auto failed = [audience = audience_](const std::string& element, const std::string& reason) {
        log::warning("the guest's sound has ended", {{"element", element}, {"error", reason}});
        audience->failed = true;
    };
    listen(pipeline_.get(), "packets", {made, failed});
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return;
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    throw Error(ErrorCode::unavailable, "the guest's sound cannot be recorded");
}

SoundEncoder::~SoundEncoder() {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

void SoundEncoder::add(const std::shared_ptr<SoundTaker>& taker) {
    audience_->takers.add(taker);
}

}  // namespace svc::streamer
