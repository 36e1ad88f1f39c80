#pragma once
// GStreamer's texts for the codecs: encoders, payloaders, caps of the offer, decoders. Pure functions.
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

struct PictureShape {
    int width = 0, height = 0, fps = 0;
};

constexpr int h264_payload = 102, vp8_payload = 96, vp9_payload = 98, opus_payload = 111;
constexpr int transport_cc_extension = 3;
constexpr std::string_view transport_cc_uri =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
constexpr int audio_bits_per_second = 96000;

int payload_type(VideoCodec codec);  // of a codec with a payloader
// An element that encodes.
struct EncoderForm {
    std::string_view element;  // "x264enc"
    VideoCodec codec = VideoCodec::h264;
    bool gpu = false;
    std::string_view raw_format;        // of the pictures that it takes: "I420"
    std::string_view bitrate_property;  // "bitrate"
    std::uint32_t bitrate_unit = 1000;  // bits per second that 1 in the property stands for
};
std::span<const EncoderForm> encoder_forms();  // those of a codec: the preferred one first
std::string encoded_caps(VideoCodec codec);    // of what an encoder must be able to make
// Whether the form's element has a property of that name.
using PropertyTest = std::function<bool(const std::string& name)>;
// "... name=encoder ! ...": raw pictures in, encoded ones out. Properties that the element lacks are left
// out.
std::string encoder_description(const EncoderForm& form, const PictureShape& shape, std::uint32_t kbps,
                                const PropertyTest& has_property);
// "... name=payloader": encoded pictures in, RTP out. "": GStreamer 1.22 has no payloader of the codec.
std::string payloader_description(VideoCodec codec);
// The caps of a video section in the offer, one text for each codec.
std::string video_caps(VideoCodec codec);
std::string audio_caps();
// RTP in, raw video out; "" for an unknown codec.
std::string decoder_description(std::string_view encoding_name);

}  // namespace svc::streamer
