#include "instance-agent/streamer/sound/microphone_watch.h"

#include <pulse/pulseaudio.h>

#include <utility>

#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

constexpr const char* microphone = "svc_microphone.monitor";
constexpr pa_usec_t retry_interval = 2 * PA_USEC_PER_SEC;

void drop(pa_operation* operation) {
    if (operation != nullptr) pa_operation_unref(operation);
}

}  // namespace

// Everything except construction and destruction runs on the main loop's thread.
class MicrophoneWatch::Implementation {
  public:
    Implementation(const std::string& socket, Told told)
        : server_("unix:" + socket), told_(std::move(told)), loop_(pa_threaded_mainloop_new()) {
        if (loop_ == nullptr) throw Error(ErrorCode::internal, "no main loop for PulseAudio");
        pa_threaded_mainloop_set_name(loop_, "microphone");
        connect();
        if (pa_threaded_mainloop_start(loop_) == 0) return;
        leave();
        pa_threaded_mainloop_free(loop_);
        throw Error(ErrorCode::internal, "no thread for PulseAudio");
    }
    ~Implementation() {
        pa_threaded_mainloop_stop(loop_);
        leave();
        pa_threaded_mainloop_free(loop_);
    }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

  private:
    static Implementation& self(void* data) { return *static_cast<Implementation*>(data); }

    void connect() {
        leave();
        context_ = pa_context_new(pa_threaded_mainloop_get_api(loop_), "svc-streamer");
        pa_context_set_state_callback(context_, &Implementation::state_changed, this);
        if (pa_context_connect(context_, server_.c_str(), PA_CONTEXT_NOAUTOSPAWN, nullptr) < 0) lost();
    }

    void leave() {
        if (context_ == nullptr) return;
        pa_context_set_state_callback(context_, nullptr, nullptr);
        pa_context_set_subscribe_callback(context_, nullptr, nullptr);
        pa_context_disconnect(context_);
        pa_context_unref(std::exchange(context_, nullptr));
    }

    static void state_changed(pa_context* context, void* data) {
        const pa_context_state_t state = pa_context_get_state(context);
        if (state == PA_CONTEXT_READY) self(data).ready();
        if (state == PA_CONTEXT_FAILED || state == PA_CONTEXT_TERMINATED) self(data).lost();
    }

    void ready() {
        constexpr auto wanted = static_cast<pa_subscription_mask_t>(PA_SUBSCRIPTION_MASK_SOURCE_OUTPUT |
                                                                    PA_SUBSCRIPTION_MASK_SOURCE);
        const auto changed = [](pa_context*, pa_subscription_event_type_t, std::uint32_t, void* data) {
            self(data).look();
        };
        pa_context_set_subscribe_callback(context_, changed, this);
        drop(pa_context_subscribe(context_, wanted, nullptr, nullptr));
        look();
    }

    void lost() {
        looking_ = look_again_ = false;
        tell(false);
        const auto again = [](pa_mainloop_api* api, pa_time_event* event, const timeval*, void* data) {
            api->time_free(event);
            self(data).connect();
        };
        pa_context_rttime_new(context_, pa_rtclock_now() + retry_interval, again, this);
    }

    // The index of the source changes when the guest reloads modules, so it is looked up each time.
    void look() {
        look_again_ = std::exchange(looking_, true);
        if (look_again_) return;
        source_ = PA_INVALID_INDEX;
        heard_ = false;
        const auto found = [](pa_context*, const pa_source_info* source, int end, void* data) {
            if (source != nullptr) self(data).source_ = source->index;
            if (end != 0) self(data).look_at_listeners();
        };
        drop(pa_context_get_source_info_by_name(context_, microphone, found, this));
    }

    void look_at_listeners() {
        const auto found = [](pa_context*, const pa_source_output_info* output, int end, void* data) {
            Implementation& watch = self(data);
            if (output != nullptr && output->source == watch.source_ && output->corked == 0)
                watch.heard_ = true;
            if (end != 0) watch.seen();
        };
        drop(pa_context_get_source_output_info_list(context_, found, this));
    }

    void seen() {
        looking_ = false;
        if (std::exchange(look_again_, false)) return look();
        tell(source_ != PA_INVALID_INDEX && heard_);
    }

    void tell(bool in_use) {
        if (std::exchange(in_use_, in_use) != in_use) told_(in_use);
    }

    const std::string server_;
    const Told told_;
    pa_threaded_mainloop* const loop_;
    pa_context* context_ = nullptr;
    std::uint32_t source_ = PA_INVALID_INDEX;
    bool looking_ = false, look_again_ = false, heard_ = false, in_use_ = false;
};

MicrophoneWatch::MicrophoneWatch(const std::string& socket, Told told)
    : implementation_(std::make_unique<Implementation>(socket, std::move(told))) {}

MicrophoneWatch::~MicrophoneWatch() = default;

}  // namespace svc::streamer
