// The lines of an SDP offer, each of them a requirement of the clients.
#include <catch2/catch.hpp>
#include <sstream>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

struct Part {
    std::string head;  // of the m= line
    std::string text;
    bool has(const std::string& line) const { return text.find("\n" + line) != std::string::npos; }
};

std::vector<Part> parts_of(const std::string& sdp) {
    std::vector<Part> parts;
    std::istringstream lines(sdp);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.rfind("m=", 0) == 0) parts.push_back({line, ""});
        if (!parts.empty()) parts.back().text += "\n" + line;
    }
    return parts;
}

std::vector<Part> offered(ClientSettings settings) {
    MediaPair::Wish wish;
    wish.settings = std::move(settings);
    return parts_of(MediaPair(wish).offer());
}

TEST_CASE("offer has sound, display and channels in this order") {
    const auto parts = offered({});
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].head.rfind("m=audio", 0) == 0);
    CHECK(parts[0].has("a=sendonly"));
    CHECK(parts[1].head.rfind("m=video", 0) == 0);
    CHECK(parts[1].has("a=sendonly"));
    CHECK(parts[2].head.rfind("m=application", 0) == 0);
}

TEST_CASE("offer has the camera's section before the display's and takes a microphone") {
    ClientSettings settings;
    settings.camera = settings.microphone = true;
    const auto parts = offered(settings);
    REQUIRE(parts.size() == 4);
    CHECK(parts[0].has("a=sendrecv"));
    CHECK(parts[1].has("a=recvonly"));
    CHECK(parts[1].has("a=rtpmap:96 VP8/90000"));
    CHECK(parts[2].has("a=sendonly"));
}

TEST_CASE("offer leaves sound out for a client without, and keeps the channels") {
    ClientSettings settings;
    settings.speaker = false;
    auto parts = offered(settings);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].head.rfind("m=video", 0) == 0);
    settings.video = false;
    parts = offered(settings);
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].head.rfind("m=application", 0) == 0);
}

TEST_CASE("offer is one bundle, names a stream for each sent track and lets the client be active") {
    MediaPair pair({});
    CHECK(pair.offer().find("a=group:BUNDLE audio0 video1 application2") != std::string::npos);
    const auto parts = parts_of(pair.offer());
    for (const Part& part : parts) CHECK(part.has("a=setup:actpass"));
    for (const std::size_t i : {0U, 1U}) {
        CHECK(parts[i].has("a=rtcp-mux"));
        CHECK(parts[i].text.find(" msid:display ") != std::string::npos);
    }
    CHECK(parts[1].has("a=rtpmap:102 H264/90000"));
    CHECK(parts[1].text.find("profile-level-id=42e01f") != std::string::npos);
    CHECK(parts[1].has("a=rtcp-fb:102 nack pli"));
    CHECK(parts[1].has("a=rtcp-fb:102 transport-cc"));
    CHECK(parts[1].text.find("rtx/90000") != std::string::npos);
    CHECK(pair.offer().find("ulpfec") == std::string::npos);
    CHECK(parts[0].has("a=rtpmap:111 OPUS/48000/2"));
}

TEST_CASE("offer has all codecs there is an encoder and a payloader for, the client's first") {
    const auto ours = offered({})[1];
    CHECK(ours.head == "m=video 0 UDP/TLS/RTP/SAVPF 102 96 98 97 99 100");
    CHECK(ours.has("a=rtpmap:102 H264/90000"));
    CHECK(ours.has("a=rtpmap:96 VP8/90000"));
    CHECK(ours.has("a=rtpmap:98 VP9/90000"));
    CHECK(ours.has("a=fmtp:97 apt=102"));
    CHECK(ours.has("a=rtpmap:99 rtx/90000"));
    CHECK(ours.has("a=fmtp:99 apt=96"));
    CHECK(ours.has("a=fmtp:100 apt=98"));
    CHECK(ours.text.find("AV1") == std::string::npos);
    CHECK(ours.text.find("a=extmap:3", ours.text.find("a=extmap:3") + 1) == std::string::npos);
    ClientSettings settings;
    settings.preferred_codecs = {VideoCodec::av1, VideoCodec::vp9, VideoCodec::vp8};
    CHECK(offered(settings)[1].head == "m=video 0 UDP/TLS/RTP/SAVPF 98 96 102 97 99 100");
}

TEST_CASE("answer that does not fit is refused in words and the peer can still be ended") {
    MediaPair pair({});
    CHECK_THROWS_WITH(pair.peer().set_answer("hello"), "answer is not a session description");
    CHECK_THROWS_WITH(pair.peer().set_answer(""), "answer is not a session description");
    CHECK_THROWS_WITH(pair.peer().set_answer("v=0\r\nm=audio 9 X 1\r\n"),
                      "answer has no application section");
    pair.peer().add_candidate("candidate:nonsense", 0);
    pair.peer().add_candidate("candidate:1 1 UDP 1 127.0.0.1 9 typ host", 99);
    CHECK_FALSE(pair.peer().send("control", false, "x"));
    CHECK(pair.peer().buffered("control") == 0);
}

TEST_CASE("answer without a codec for the display is refused") {
    MediaPair::Wish wish;
    SECTION("rejected") {
        wish.change_answer = [](std::string sdp) {
            return sdp.replace(sdp.find("m=video 9"), 9, "m=video 0");
        };
    }
    SECTION("inactive") {
        wish.change_answer = [](std::string sdp) {
            return sdp.replace(sdp.find("a=recvonly", sdp.find("m=video")), 10, "a=inactive");
        };
    }
    SECTION("another codec") {
        wish.change_answer = [](std::string sdp) {
            return sdp.replace(sdp.find("H264/90000"), 10, "VP9/90000");
        };
    }
    SECTION("a client that knows none of ours") {
        wish.client.codecs = {"AV1"};
    }
    MediaPair pair(wish);
    CHECK_THROWS_WITH(pair.connect(), "answer has no codec in common");
}

TEST_CASE("answer without channels or credentials is refused, with more than was offered too") {
    MediaPair::Wish wish;
    std::string expected;
    SECTION("channels cut off") {
        expected = "answer has no application section";
        wish.change_answer = [](const std::string& sdp) { return sdp.substr(0, sdp.find("m=application")); };
    }
    SECTION("channels rejected") {
        expected = "answer has no application section";
        wish.change_answer = [](std::string sdp) {
            return sdp.replace(sdp.find("m=application 9"), 15, "m=application 0");
        };
    }
    SECTION("no fingerprint") {
        expected = "answer has no 'fingerprint'";
        wish.change_answer = [](std::string sdp) {
            for (std::size_t at = 0; (at = sdp.find("a=fingerprint", at)) != std::string::npos;)
                sdp[at + 2] = 'x';
            return sdp;
        };
    }
    SECTION("one more") {
        expected = "answer has 4 media sections, the offer has 3";
        wish.change_answer = [](const std::string& sdp) {
            return sdp + sdp.substr(sdp.find("m=application"));
        };
    }
    MediaPair pair(wish);
    CHECK_THROWS_WITH(pair.connect(), expected);
}

TEST_CASE("addresses of one link alone are not told") {
    MediaPair pair({});
    std::mutex mutex;
    std::vector<std::string> told;
    pair.log().candidates_to([&](const std::string& candidate, unsigned) {
        std::lock_guard lock(mutex);
        told.push_back(candidate);
    });
    CHECK(test::eventually(
        [&] {
            std::lock_guard lock(mutex);
            return !told.empty();
        },
        patience));
    pair.end_peer();
    for (const std::string& candidate : told) CHECK(candidate.find(" fe80:") == std::string::npos);
}

}  // namespace
}  // namespace svc::streamer
