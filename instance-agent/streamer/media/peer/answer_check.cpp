#include "instance-agent/streamer/media/peer/answer_check.h"

#include <gst/sdp/gstsdpmessage.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "instance-agent/streamer/media/video/codec_forms.h"
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

// GStreamer's parser accepts nearly any text.
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

// "102 H264/90000": the encoding of a payload type; "": not given.
std::string meaning_of(const GstSDPMedia* media, std::string_view payload) {
    for (guint i = 0; i < gst_sdp_media_attributes_len(media); ++i) {
        const GstSDPAttribute* const attribute = gst_sdp_media_get_attribute(media, i);
        if (std::string_view(attribute->key) != "rtpmap" || attribute->value == nullptr) continue;
        const std::string_view value = attribute->value;
        if (value.starts_with(payload) && value.substr(payload.size()).starts_with(' '))
            return to_lower(value);
    }
    return "";
}

// The first offered codec of the answer, with the payload type of the offer.
std::optional<VideoCodec> first_codec(const GstSDPMedia* media, const std::vector<VideoCodec>& offered) {
    for (guint i = 0; i < gst_sdp_media_formats_len(media); ++i) {
        const std::string payload = gst_sdp_media_get_format(media, i);
        const std::string meaning = meaning_of(media, payload);
        for (const VideoCodec codec : offered)
            if (payload == std::to_string(payload_type(codec)) &&
                meaning == to_lower(payload + " " + std::string(to_text(codec)) + "/90000"))
                return codec;
    }
    return std::nullopt;
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
    if (section == Section::display && (is_rejected(media) || is_inactive(media)))
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

std::optional<VideoCodec> check_answer(const std::string& answer, const Offered& offered) {
    const Message message = parse(answer);
    const std::size_t count = gst_sdp_message_medias_len(message.get());
    if (count > 0 && !has_application(message.get())) refuse("answer has no application section");
    if (count != offered.sections.size())
        refuse("answer has " + std::to_string(count) + " media sections, the offer has " +
               std::to_string(offered.sections.size()));
    std::optional<VideoCodec> codec;
    for (std::size_t i = 0; i < count; ++i) {
        const GstSDPMedia* const media = gst_sdp_message_get_media(message.get(), static_cast<guint>(i));
        check_section(message.get(), media, offered.sections[i], i);
        if (offered.sections[i] != Section::display) continue;
        codec = first_codec(media, offered.codecs);
        if (!codec) refuse("answer has no codec in common");
    }
    return codec;
}

}  // namespace svc::streamer
