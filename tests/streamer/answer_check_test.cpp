#include "instance-agent/streamer/media/answer_check.h"

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
const std::vector<Section> both{Section::display, Section::application};

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
                               {Section::camera, Section::display, Section::application}));
    CHECK_THROWS_WITH(check_answer(session + rejected + channels, both), "answer has no codec in common");
}

TEST_CASE("retransmission alone is no codec") {
    CHECK_THROWS_WITH(check_answer(session + changed(video, "H264", "rtx") + channels, both),
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
