#pragma once
// GStreamer's texts for the codecs: encoders, payloaders, caps of the offer, decoders. Pure functions.
#include <string>
#include <string_view>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

struct PictureShape {
    int width = 0, height = 0, fps = 0;
};

constexpr int h264_payload = 102, vp8_payload = 96, opus_payload = 111;
constexpr int transport_cc_extension = 3;
constexpr std::string_view transport_cc_uri =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
constexpr int audio_bits_per_second = 96000;

int payload_type(VideoCodec codec);
std::string_view encoder_element(VideoCodec codec);
// "... name=encoder ! ... ! ... name=payloader": raw I420 in, RTP out.
std::string encoder_description(VideoCodec codec, const PictureShape& shape, std::uint32_t kbps);
// The part of it behind an H.264 encoder.
std::string h264_payloader_description();
// The caps of a video section in the offer, one text for each codec.
std::string video_caps(VideoCodec codec);
std::string audio_caps();
// RTP in, raw video out; "" for an unknown codec.
std::string decoder_description(std::string_view encoding_name);

}  // namespace svc::streamer
