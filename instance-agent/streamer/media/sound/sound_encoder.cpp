#include "instance-agent/streamer/media/sound/sound_encoder.h"

#include <gst/app/gstappsink.h>

#include <optional>

#include "instance-agent/streamer/media/sound/sound.h"
#include "libsvc/base/log.h"

namespace svc::streamer {
namespace {

constexpr gsize silence_bytes = 2;  // of a packet that says only that nothing is sent (DTX)

std::optional<SoundPacket> packet_of(GstSample* sample, GstElement* sink) {
    GstBuffer* const buffer = gst_sample_get_buffer(sample);
    if (buffer == nullptr || gst_buffer_get_size(buffer) <= silence_bytes) return std::nullopt;
    const GstClockTime running =
        gst_segment_to_running_time(gst_sample_get_segment(sample), GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    const GstClockTime time =
        gst_element_get_base_time(sink) + (GST_CLOCK_TIME_IS_VALID(running) ? running : 0);
    const auto bytes = std::make_shared<std::string>(gst_buffer_get_size(buffer), '\0');
    gst_buffer_extract(buffer, 0, bytes->data(), bytes->size());
    return SoundPacket{static_cast<std::int64_t>(GST_TIME_AS_USECONDS(time)), bytes};
}

}  // namespace

std::vector<std::shared_ptr<SoundTaker>> SoundEncoder::Audience::present() {
    return takers.with([](auto& weak) {
        std::erase_if(weak, [](const auto& one) { return one.expired(); });
        std::vector<std::shared_ptr<SoundTaker>> present;
        for (const auto& one : weak)
            if (auto taker = one.lock()) present.push_back(std::move(taker));
        return present;
    });
}

SoundEncoder::SoundEncoder(const std::string& server)
    : pipeline_(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr)))) {
    gst_bin_add(GST_BIN(pipeline_.get()),
                make_opus_sound(server, "appsink name=packets sync=false async=false emit-signals=true"));
    listen();
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return;
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    throw Error(ErrorCode::unavailable, "the guest's sound cannot be recorded");
}

SoundEncoder::~SoundEncoder() {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

void SoundEncoder::listen() {
    connect(element_of(pipeline_.get(), "packets").get(), "new-sample", G_CALLBACK(&SoundEncoder::on_sample),
            audience_);
    const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    const auto destroy = [](gpointer data) { delete static_cast<std::weak_ptr<Audience>*>(data); };
    gst_bus_set_sync_handler(bus.get(), &SoundEncoder::on_message, new std::weak_ptr<Audience>(audience_),
                             destroy);
}

GstFlowReturn SoundEncoder::on_sample(GstElement* sink, gpointer data) {
    const Ref<GstSample> sample(gst_app_sink_pull_sample(GST_APP_SINK(sink)));
    const auto audience = held<Audience>(data);
    const auto packet = sample && audience ? packet_of(sample.get(), sink) : std::nullopt;
    if (!packet) return GST_FLOW_OK;
    for (const auto& taker : audience->present()) taker->take(*packet);
    return GST_FLOW_OK;
}

// The guest's sound server has gone, say: pictures go on, and the next client gets another encoder.
GstBusSyncReply SoundEncoder::on_message(GstBus*, GstMessage* message, gpointer data) {
    const Ref<GstMessage> owned(message);
    const auto audience = held<Audience>(data);
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || !audience) return GST_BUS_DROP;
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::unique_ptr<GError, Free> owned_error(error);
    log::warning("the guest's sound has ended",
                 {{"element", GST_MESSAGE_SRC_NAME(message)}, {"error", error->message}});
    audience->failed = true;
    return GST_BUS_DROP;
}

void SoundEncoder::add(const std::shared_ptr<SoundTaker>& taker) {
    audience_->takers.with([&](auto& takers) { takers.push_back(taker); });
}

}  // namespace svc::streamer
