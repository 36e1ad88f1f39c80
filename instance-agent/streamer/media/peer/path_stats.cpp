#include "instance-agent/streamer/media/peer/path_stats.h"

#define GST_USE_UNSTABLE_API
#include <gst/webrtc/webrtc.h>

#include <string>
#include <string_view>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

namespace svc::streamer {
namespace {

constexpr guint64 report_interval = 500 * GST_MSECOND;
constexpr double all_arrives = 0.95;
constexpr std::int64_t ntp_epoch_seconds = 2'208'988'800;

struct FreeStructure {
    void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};
using Structure = std::unique_ptr<GstStructure, FreeStructure>;

std::string text_of(const GstStructure* structure, const char* field) {
    const gchar* const text = gst_structure_get_string(structure, field);
    return text != nullptr ? text : "";
}

const GstStructure* part_of(const GstStructure* stats, const std::string& id) {
    const GValue* const value = gst_structure_get_value(stats, id.c_str());
    return value != nullptr && GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
}

// GStreamer 1.22 swaps the types of local and remote candidates, so they are found by id.
bool is_relay(const GstStructure* stats, const std::string& id) {
    const GstStructure* const candidate = part_of(stats, id);
    return candidate != nullptr && text_of(candidate, "candidate-type") == "relay";
}

struct Pair {
    const GstStructure* stats = nullptr;
    bool found = false, relay = false;
};

gboolean look_at(GQuark, const GValue* value, gpointer data) {
    Pair& pair = *static_cast<Pair*>(data);
    const GstStructure* const part =
        GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
    if (part == nullptr || std::string_view(gst_structure_get_name(part)) != "candidate-pair") return TRUE;
    pair.found = true;
    pair.relay = is_relay(pair.stats, text_of(part, "local-candidate-id")) ||
                 is_relay(pair.stats, text_of(part, "remote-candidate-id"));
    return FALSE;
}

// All streams share one RTP session, because they share one transport. `signal` names which of its two
// objects is wanted.
Ref<GObject> session_of(GstElement* webrtc, const char* signal) {
    const auto rtpbin = element_of(webrtc, "rtpbin");
    GObject* session = nullptr;
    if (rtpbin) g_signal_emit_by_name(rtpbin.get(), signal, 0U, &session);
    return Ref<GObject>(session);
}

std::uint32_t ntp_now() {
    const std::int64_t now = g_get_real_time();
    const auto seconds = static_cast<std::uint64_t>(now / G_USEC_PER_SEC + ntp_epoch_seconds);
    const auto fraction = (static_cast<std::uint64_t>(now % G_USEC_PER_SEC) << 16) / G_USEC_PER_SEC;
    return static_cast<std::uint32_t>(seconds << 16 | fraction);
}

void rtcp_came(GObject*, GstBuffer* buffer, gpointer data) {
    const auto meter = held<RtcpMeter>(data);
    GstMapInfo map{};
    if (!meter || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return;
    meter->heed({map.data, map.size}, ntp_now());
    gst_buffer_unmap(buffer, &map);
}

}  // namespace

void find_relay(GstElement* webrtc, std::function<void(bool relay)> done) {
    using Done = std::function<void(bool)>;
    const auto replied = [](GstPromise* promise, gpointer data) {
        const Ref<GstPromise> owned(promise);
        if (gst_promise_wait(promise) != GST_PROMISE_RESULT_REPLIED) return;
        Pair pair{gst_promise_get_reply(promise)};
        if (pair.stats != nullptr) gst_structure_foreach(pair.stats, look_at, &pair);
        if (pair.found) (*static_cast<Done*>(data))(pair.relay);
    };
    const auto destroy = [](gpointer data) { delete static_cast<Done*>(data); };
    GstPromise* const promise = gst_promise_new_with_change_func(replied, new Done(std::move(done)), destroy);
    g_signal_emit_by_name(webrtc, "get-stats", nullptr, promise);
}

void meter_feedback(GstElement* webrtc, const std::shared_ptr<RtcpMeter>& meter) {
    const auto session = session_of(webrtc, "get-internal-session");
    if (!session) return;
    g_object_set(session.get(), "rtcp-min-interval", report_interval, nullptr);
    connect(session.get(), "on-receiving-rtcp", G_CALLBACK(rtcp_came), meter);
}

std::optional<TransportFeedback> transport_feedback(GstElement* webrtc) {
    const auto session = session_of(webrtc, "get-session");
    GstStructure* raw = nullptr;
    if (session) g_object_get(session.get(), "twcc-stats", &raw, nullptr);
    const Structure stats(raw);
    guint received = 0, sent = 0;
    gdouble loss = 0;
    if (!stats || !gst_structure_get_uint(stats.get(), "bitrate-recv", &received) || received == 0)
        return std::nullopt;
    if (gst_structure_get_uint(stats.get(), "bitrate-sent", &sent) && received >= sent * all_arrives)
        return std::nullopt;
    gst_structure_get_double(stats.get(), "packet-loss-pct", &loss);
    return TransportFeedback{loss / 100, received / 1000.0};
}

}  // namespace svc::streamer
