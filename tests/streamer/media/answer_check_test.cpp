#include "instance-agent/streamer/media/peer/answer_check.h"

#include <catch2/catch.hpp>

namespace svc::streamer {
namespace {

const std::string session =
    "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n"
    "a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghabcdefghabcdefgh\r\na=setup:active\r\n"
    "a=fingerprint:sha-256 00\r\n";
const std::string video =
    "m=video 9 UDP/TLS/RTP/SAVPF 102\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=recvonly\r\n"
    "a=rtpmap:102 H264/90000\r\n";
const std::string channels =
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\n";
const Offered both{{Section::display, Section::application}, {VideoCodec::h264, VideoCodec::vp8}};

std::string changed(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("answer that fits is taken, with credentials for the whole session too") {
    CHECK_NOTHROW(check_answer(session + video + channels, both));
}

TEST_CASE("answer needs what identifies the client") {
    for (const char* const attribute : {"ice-ufrag", "ice-pwd", "fingerprint", "setup"})
        CHECK_THROWS_WITH(check_answer(changed(session, attribute, "x") + video + channels, both),
                          std::string("answer has no '") + attribute + "'");
    CHECK_THROWS_WITH(check_answer(session + changed(video, "a=mid", "a=x") + channels, both),
                      "answer has no 'mid'");
}

TEST_CASE("answer's sections are in the order of the offer") {
    CHECK_THROWS_WITH(check_answer(session + channels + video, both),
                      "media section 0 of the answer is not video");
}

TEST_CASE("camera and sound may be rejected, the display may not") {
    const std::string rejected = changed(video, "video 9", "video 0");
    CHECK_NOTHROW(check_answer(session + rejected + video + channels,
                               {{Section::camera, Section::display, Section::application}, both.codecs}));
    CHECK_THROWS_WITH(check_answer(session + rejected + channels, both), "answer has no codec in common");
}

TEST_CASE("retransmission alone is no codec") {
    CHECK_THROWS_WITH(check_answer(session + changed(video, "H264", "rtx") + channels, both),
                      "answer has no codec in common");
}

// A section that takes these payload types, in this order.
std::string video_with(const std::string& formats, const std::string& maps) {
    return changed(changed(video, "SAVPF 102", "SAVPF " + formats), "a=rtpmap:102 H264/90000\r\n", maps);
}

TEST_CASE("display is sent in the answer's first codec that was offered") {
    const std::string h264 = "a=rtpmap:102 H264/90000\r\n", vp8 = "a=rtpmap:96 VP8/90000\r\n";
    const auto codec_of = [](const std::string& section) {
        return check_answer(session + section + channels, both);
    };
    CHECK(codec_of(video_with("102 96", h264 + vp8)) == VideoCodec::h264);
    CHECK(codec_of(video_with("96 102", h264 + vp8)) == VideoCodec::vp8);
    CHECK(codec_of(video_with("97 96", "a=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n" + vp8)) ==
          VideoCodec::vp8);
    CHECK(
        codec_of(video_with("102", "a=rtpmap:102 h264/90000\r\n" +
                                       std::string("a=fmtp:102 profile-level-id=42e02a;packetization-mode=1;"
                                                   "level-asymmetry-allowed=1\r\n"))) == VideoCodec::h264);
    CHECK(check_answer(session + channels, {{Section::application}, {}}) == std::nullopt);
}

TEST_CASE("codec that was not offered, or under another payload type, is none in common") {
    const Offered vp8_alone{both.sections, {VideoCodec::vp8}};
    CHECK_THROWS_WITH(check_answer(session + video + channels, vp8_alone), "answer has no codec in common");
    CHECK_THROWS_WITH(check_answer(session + video_with("98", "a=rtpmap:98 VP8/90000\r\n") + channels, both),
                      "answer has no codec in common");
}

TEST_CASE("texts that are no answer are refused") {
    for (const std::string& text :
         {std::string(), std::string("v=1\r\n"), std::string("m=video"), std::string(300'000, 'v'),
          std::string("v=0\r\n\0m=video", 13), "x" + session})
        CHECK_THROWS(check_answer(text, both));
}

}  // namespace
}  // namespace svc::streamer
