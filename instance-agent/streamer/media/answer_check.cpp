#include "instance-agent/streamer/media/answer_check.h"

#include <gst/sdp/gstsdpmessage.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {
namespace {

constexpr std::size_t most_answer = 256U << 10;

struct FreeMessage {
    void operator()(GstSDPMessage* message) const { gst_sdp_message_free(message); }
};
using Message = std::unique_ptr<GstSDPMessage, FreeMessage>;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, what);
}

// The parser itself takes nearly any text.
Message parse(const std::string& text) {
    if (text.size() > most_answer) refuse("answer is too big");
    if (text.empty()) refuse("answer is not a session description");
    GstSDPMessage* raw = nullptr;
    gst_sdp_message_new(&raw);
    Message message(raw);
    const auto result = gst_sdp_message_parse_buffer(reinterpret_cast<const guint8*>(text.data()),
                                                     static_cast<guint>(text.size()), raw);
    const bool starts = text.compare(0, 4, "v=0\r") == 0 || text.compare(0, 4, "v=0\n") == 0;
    if (result != GST_SDP_OK || !starts || text.find('\0') != std::string::npos)
        refuse("answer is not a session description");
    return message;
}

bool has(const GstSDPMessage* message, const GstSDPMedia* media, const char* attribute) {
    return gst_sdp_media_get_attribute_val(media, attribute) != nullptr ||
           gst_sdp_message_get_attribute_val(message, attribute) != nullptr;
}

bool is_rejected(const GstSDPMedia* media) {
    return gst_sdp_media_get_port(media) == 0;
}

bool is_inactive(const GstSDPMedia* media) {
    return gst_sdp_media_get_attribute_val(media, "inactive") != nullptr;
}

// One of the payload types is a picture or sound, not only its retransmission or correction.
bool has_codec(const GstSDPMedia* media) {
    for (guint i = 0; i < gst_sdp_media_attributes_len(media); ++i) {
        const GstSDPAttribute* const attribute = gst_sdp_media_get_attribute(media, i);
        if (std::string_view(attribute->key) != "rtpmap" || attribute->value == nullptr) continue;
        const std::string value = to_lower(attribute->value);
        for (const std::string_view name : {" h264/90000", " vp8/90000"})
            if (value.find(name) != std::string::npos) return true;
    }
    return false;
}

std::string_view media_name(Section section) {
    if (section == Section::audio) return "audio";
    return section == Section::application ? "application" : "video";
}

void check_section(const GstSDPMessage* message, const GstSDPMedia* media, Section section,
                   std::size_t number) {
    const gchar* const name = gst_sdp_media_get_media(media);
    if (name == nullptr || name != media_name(section))
        refuse("media section " + std::to_string(number) + " of the answer is not " +
               std::string(media_name(section)));
    if (section == Section::application && is_rejected(media)) refuse("answer has no application section");
    if (section == Section::display && (is_rejected(media) || is_inactive(media) || !has_codec(media)))
        refuse("answer has no codec in common");
    if (is_rejected(media)) return;
    for (const char* const attribute : {"ice-ufrag", "ice-pwd", "fingerprint", "setup"})
        if (!has(message, media, attribute)) refuse(std::string("answer has no '") + attribute + "'");
    if (gst_sdp_media_get_attribute_val(media, "mid") == nullptr) refuse("answer has no 'mid'");
}

bool has_application(const GstSDPMessage* message) {
    for (guint i = 0; i < gst_sdp_message_medias_len(message); ++i) {
        const gchar* const name = gst_sdp_media_get_media(gst_sdp_message_get_media(message, i));
        if (name != nullptr && std::string_view(name) == "application") return true;
    }
    return false;
}

}  // namespace

void check_answer(const std::string& answer, const std::vector<Section>& offered) {
    const Message message = parse(answer);
    const std::size_t count = gst_sdp_message_medias_len(message.get());
    if (count > 0 && !has_application(message.get())) refuse("answer has no application section");
    if (count != offered.size())
        refuse("answer has " + std::to_string(count) + " media sections, the offer has " +
               std::to_string(offered.size()));
    for (std::size_t i = 0; i < count; ++i)
        check_section(message.get(), gst_sdp_message_get_media(message.get(), static_cast<guint>(i)),
                      offered[i], i);
}

}  // namespace svc::streamer
