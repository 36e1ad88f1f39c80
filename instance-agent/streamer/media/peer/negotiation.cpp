#include "instance-agent/streamer/media/peer/negotiation.h"

#define GST_USE_UNSTABLE_API
#include <gst/webrtc/webrtc.h>

#include <algorithm>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {
namespace {

constexpr std::size_t most_early = 256;
constexpr std::size_t most_candidate = 1024;
constexpr int least_dynamic = 96;  // lowest dynamic payload type

struct FreeDescription {
    void operator()(GstWebRTCSessionDescription* description) const {
        gst_webrtc_session_description_free(description);
    }
};
using Description = std::unique_ptr<GstWebRTCSessionDescription, FreeDescription>;

Description description_of(const std::string& sdp) {
    GstSDPMessage* message = nullptr;
    if (gst_sdp_message_new_from_text(sdp.c_str(), &message) != GST_SDP_OK)
        throw Error(ErrorCode::invalid_argument, "answer is not a session description");
    return Description(gst_webrtc_session_description_new(GST_WEBRTC_SDP_TYPE_ANSWER, message));
}

// GStreamer's reason against the answer; "": none.
std::string failure_of(GstPromise* promise) {
    const GstPromiseResult result = gst_promise_wait(promise);
    if (result != GST_PROMISE_RESULT_REPLIED) return "the connection has ended";
    const GstStructure* const reply = gst_promise_get_reply(promise);
    if (reply == nullptr || !gst_structure_has_field(reply, "error")) return "";
    GError* error = nullptr;
    gst_structure_get(reply, "error", G_TYPE_ERROR, &error, nullptr);
    const std::unique_ptr<GError, Free> owned(error);
    return error != nullptr ? error->message : "unknown reason";
}

// Link-local addresses are left out, as in browsers: interfaces of containers have such addresses, and vanish
// at any moment.
bool is_link_local(const std::string& candidate) {
    const auto words = split(candidate, ' ');
    return words.size() > 4 && to_lower(words[4]).rfind("fe80:", 0) == 0;
}

bool has_format(const GstSDPMessage* message, const std::string& payload) {
    for (guint i = 0; i < gst_sdp_message_medias_len(message); ++i) {
        const GstSDPMedia* const media = gst_sdp_message_get_media(message, i);
        for (guint j = 0; j < gst_sdp_media_formats_len(media); ++j)
            if (payload == gst_sdp_media_get_format(media, j)) return true;
    }
    return false;
}

bool is_sent_again(const GstSDPMedia* media, const std::string& payload) {
    for (guint i = 0; i < gst_sdp_media_attributes_len(media); ++i) {
        const GstSDPAttribute* const attribute = gst_sdp_media_get_attribute(media, i);
        if (std::string_view(attribute->key) == "fmtp" && attribute->value != nullptr &&
            std::string_view(attribute->value).ends_with(" apt=" + payload))
            return true;
    }
    return false;
}

// webrtcbin offers retransmission for the first codec of a section alone, but retransmits for every codec of
// the answer: so the offer gets it for all.
void offer_retransmission(GstSDPMessage* message, std::size_t section,
                          const std::vector<VideoCodec>& codecs) {
    auto* const media =
        const_cast<GstSDPMedia*>(gst_sdp_message_get_media(message, static_cast<guint>(section)));
    int free = least_dynamic;
    for (const VideoCodec codec : codecs) {
        const std::string payload = std::to_string(payload_type(codec));
        if (is_sent_again(media, payload)) continue;
        while (has_format(message, std::to_string(free))) ++free;
        const std::string again = std::to_string(free);
        gst_sdp_media_add_format(media, again.c_str());
        gst_sdp_media_add_attribute(media, "rtpmap", (again + " rtx/90000").c_str());
        gst_sdp_media_add_attribute(media, "fmtp", (again + " apt=" + payload).c_str());
    }
}

}  // namespace

Negotiation::Negotiation(GstElement* webrtc, Offered offered, std::shared_ptr<EventGate> gate)
    : webrtc_(webrtc), offered_(std::move(offered)), gate_(std::move(gate)) {}

void Negotiation::start() {
    connect(webrtc_, "on-ice-candidate", G_CALLBACK(&Negotiation::candidate_found), shared_from_this());
    const auto destroy = [](gpointer data) { delete static_cast<std::weak_ptr<Negotiation>*>(data); };
    GstPromise* const promise = gst_promise_new_with_change_func(
        &Negotiation::offer_made, new std::weak_ptr<Negotiation>(weak_from_this()), destroy);
    g_signal_emit_by_name(webrtc_, "create-offer", nullptr, promise);
}

void Negotiation::offer_made(GstPromise* promise, gpointer data) {
    const Ref<GstPromise> owned(promise);
    if (const auto negotiation = held<Negotiation>(data)) negotiation->take_offer(promise);
}

// Runs on webrtcbin's own thread, which emits no candidate before it returns.
void Negotiation::take_offer(GstPromise* promise) {
    if (gst_promise_wait(promise) != GST_PROMISE_RESULT_REPLIED) return;
    const GstStructure* const reply = gst_promise_get_reply(promise);
    GstWebRTCSessionDescription* raw = nullptr;
    if (reply != nullptr && gst_structure_has_field(reply, "offer"))
        gst_structure_get(reply, "offer", GST_TYPE_WEBRTC_SESSION_DESCRIPTION, &raw, nullptr);
    const Description offer(raw);
    if (!offer) return gate_->tell([](PeerEvents& events) { events.failed("no offer could be made"); });
    const auto& sections = offered_.sections;
    const auto display = std::find(sections.begin(), sections.end(), Section::display);
    if (display != sections.end())
        offer_retransmission(offer->sdp, static_cast<std::size_t>(display - sections.begin()),
                             offered_.codecs);
    const Ref<GstPromise> set(gst_promise_new());
    g_signal_emit_by_name(webrtc_, "set-local-description", offer.get(), set.get());
    const TextRef text(gst_sdp_message_as_text(offer->sdp));
    state_.with([](State& state) { state.offered = true; });
    gate_->tell([&](PeerEvents& events) { events.local_offer(text.get()); });
}

void Negotiation::candidate_found(GstElement*, guint line, const gchar* text, gpointer data) {
    const auto negotiation = held<Negotiation>(data);
    if (!negotiation || text == nullptr || *text == '\0' || is_link_local(text)) return;
    negotiation->gate_->tell([&](PeerEvents& events) { events.local_candidate(text, line); });
}

void Negotiation::set_answer(const std::string& sdp, const std::function<void(VideoCodec)>& send_as) {
    const auto codec = check_answer(sdp, offered_);
    state_.with([](State& state) {
        if (!state.offered) throw Error(ErrorCode::invalid_argument, "there is no offer to answer yet");
        if (state.answering) throw Error(ErrorCode::invalid_argument, "the offer has an answer already");
        state.answering = true;
    });
    const Description answer = description_of(sdp);
    if (codec) send_as(*codec);
    const Ref<GstPromise> promise(gst_promise_new());
    g_signal_emit_by_name(webrtc_, "set-remote-description", answer.get(), promise.get());
    if (const std::string failure = failure_of(promise.get()); !failure.empty()) {
        state_.with([](State& state) { state.answering = false; });
        throw Error(ErrorCode::invalid_argument, "answer cannot be used: " + failure);
    }
    const auto early = state_.with([](State& state) {
        state.answered = true;
        return std::exchange(state.early, {});
    });
    for (const auto& [candidate, line] : early) give_candidate(candidate, line);
}

void Negotiation::add_candidate(const std::string& candidate, unsigned media_line) {
    if (candidate.empty() || candidate.size() > most_candidate || media_line >= offered_.sections.size())
        return;
    if (candidate.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) return;
    if (is_link_local(candidate)) return;
    const bool waits = state_.with([&](State& state) {
        if (!state.answered && state.early.size() < most_early)
            state.early.emplace_back(candidate, media_line);
        return !state.answered;
    });
    if (!waits) give_candidate(candidate, media_line);
}

void Negotiation::give_candidate(const std::string& candidate, unsigned media_line) {
    g_signal_emit_by_name(webrtc_, "add-ice-candidate", guint{media_line}, candidate.c_str());
}

}  // namespace svc::streamer
