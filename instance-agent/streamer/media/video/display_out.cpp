#include "instance-agent/streamer/media/video/display_out.h"

#include <gst/app/gstappsrc.h>
#include <gst/rtp/gstrtphdrext.h>
#include <gst/video/video.h>

#include <atomic>
#include <mutex>

#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/video/frame_gate.h"
#include "instance-agent/streamer/media/video/h264_probes.h"

namespace svc::streamer {
namespace {

constexpr guint64 most_waiting = 30;  // frames that the client's pipeline has not taken

std::string description(VideoCodec codec) {
    return "appsrc name=frames is-live=true format=time max-bytes=0 max-buffers=0 block=false ! " +
           payloader_description(codec);
}

void add_transport_cc(GstElement* payloader) {
    const std::string uri(transport_cc_uri);
    GstRTPHeaderExtension* const extension = gst_rtp_header_extension_create_from_uri(uri.c_str());
    if (extension == nullptr) return;
    gst_rtp_header_extension_set_id(extension, transport_cc_extension);
    g_signal_emit_by_name(payloader, "add-extension", extension);
    gst_object_unref(extension);
}

}  // namespace

// Frames enter the client's pipeline here.
class DisplayOut::Inlet final : public FrameTaker {
  public:
    Inlet(Ref<GstElement> source, std::function<void(const std::string&)> failed)
        : source_(std::move(source)), failed_(std::move(failed)) {}

    void open() {
        std::lock_guard lock(mutex_);
        open_ = true;
    }
    bool is_open() {
        std::lock_guard lock(mutex_);
        return open_;
    }
    // `ask` asks the encoder, which is in another pipeline, for a key frame; empty: there is none.
    void follow(std::function<void()> ask) {
        std::lock_guard lock(mutex_);
        ask_ = std::move(ask);
        gate_ = {};
    }
    void ask() {
        std::unique_lock lock(mutex_);
        const auto ask = ask_;
        lock.unlock();
        if (ask) ask();
    }
    void skip() {
        std::lock_guard lock(mutex_);
        gate_.skip(FrameGate::Moment::clock::now());
    }
    void take(const EncodedFrame& frame) override {
        std::unique_lock lock(mutex_);
        const auto now = FrameGate::Moment::clock::now();
        if (!open_) return;
        if (gst_app_src_get_current_level_buffers(GST_APP_SRC(source_.get())) >= most_waiting)
            gate_.skip(now);
        const bool passes = gate_.let_through(frame.key_frame);
        const bool asks = !passes && gate_.wants_key_frame(now);
        lock.unlock();
        if (passes) push(frame);
        if (asks) ask();
    }
    void encoder_failed(const std::string& reason) override { failed_(reason); }

  private:
    // Pipelines count from moments of their own.
    void push(const EncodedFrame& frame) {
        GstAppSrc* const source = GST_APP_SRC(source_.get());
        const GstClockTime begin = gst_element_get_base_time(source_.get());
        GstBuffer* const buffer = gst_buffer_copy(frame.buffer);
        GST_BUFFER_PTS(buffer) = frame.time > begin ? frame.time - begin : 0;
        GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
        gst_app_src_set_caps(source, frame.caps);  // harmless when they are the same
        gst_app_src_push_buffer(source, buffer);
    }

    Ref<GstElement> source_;
    const std::function<void(const std::string&)> failed_;
    std::mutex mutex_;
    std::function<void()> ask_;
    bool open_ = false;
    FrameGate gate_;
};

// The client's requests for key frames go to the encoder, which is in another pipeline.
GstPadProbeReturn DisplayOut::client_asks(GstPad*, GstPadProbeInfo* info, gpointer data) {
    if (!gst_video_event_is_force_key_unit(gst_pad_probe_info_get_event(info))) return GST_PAD_PROBE_OK;
    if (const auto inlet = (*static_cast<std::shared_ptr<std::weak_ptr<DisplayOut::Inlet>>*>(data))->lock())
        inlet->ask();
    return GST_PAD_PROBE_DROP;
}

DisplayOut::DisplayOut(std::shared_ptr<DisplayEncoder> encoder, std::shared_ptr<SendMeter> sent,
                       std::function<void(const std::string& reason)> failed)
    : bin_(GST_ELEMENT(gst_object_ref_sink(make_bin(description(encoder->form().codec))))),
      sent_(std::move(sent)) {
    auto frames = element_of(bin(), "frames");
    const auto payloader = element_of(bin(), "payloader");
    add_transport_cc(payloader.get());
    meter_payloader(payloader.get(), sent_);
    if (encoder->form().codec == VideoCodec::h264) hide_level(payloader.get());
    const Ref<GstPad> source(gst_element_get_static_pad(frames.get(), "src"));
    inlet_ = std::make_shared<Inlet>(std::move(frames), std::move(failed));
    add_probe(source.get(), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, client_asks,
              std::make_shared<std::weak_ptr<Inlet>>(inlet_));
    encode_by(std::move(encoder));
}

// The old encoder ends after the lock, as that takes a while.
void DisplayOut::encode_by(std::shared_ptr<DisplayEncoder> encoder) {
    inlet_->follow(encoder ? encoder->requester() : nullptr);
    if (encoder) encoder->add(inlet_);
    if (encoder && inlet_->is_open()) encoder->begin();
    encoder_.with([&](auto& present) { present.swap(encoder); });
}

std::shared_ptr<DisplayEncoder> DisplayOut::encoder() const {
    return encoder_.with([](const auto& present) { return present; });
}

void DisplayOut::begin() {
    inlet_->open();
    if (const auto present = encoder()) present->begin();
}

void DisplayOut::set_kbps(std::uint32_t kbps) {
    if (const auto present = encoder()) present->set_kbps(kbps);
}

std::uint32_t DisplayOut::kbps() const {
    const auto present = encoder();
    return present ? present->kbps() : 0;
}

void DisplayOut::request_key_frame() {
    inlet_->ask();
}

void DisplayOut::skip() {
    inlet_->skip();
}

void DisplayOut::add_to(StreamStats& stats) const {
    if (const auto present = encoder()) present->add_to(stats);
    sent_->add_to(stats);
}

}  // namespace svc::streamer
