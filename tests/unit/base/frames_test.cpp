#include "libsvc/base/frames.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/support/error_code.h"

using namespace svc;

TEST_CASE("frames come out of a stream as they went in, however it was cut") {
    const std::string text = frame_text(Frame::Kind::data, std::string(300, 'a')) +
                             frame_text(Frame::Kind::end_input, "") + frame_text(Frame::Kind::ended, "7");
    FrameReader reader;
    std::vector<Frame> frames;
    for (const char byte : text) {
        reader.feed({&byte, 1});
        while (auto frame = reader.next()) frames.push_back(*frame);
    }
    REQUIRE(frames.size() == 3);
    CHECK(frames[0].data == std::string(300, 'a'));
    CHECK(frames[1].kind == Frame::Kind::end_input);
    CHECK(frames[2].kind == Frame::Kind::ended);
    CHECK(frames[2].data == "7");
}

TEST_CASE("what is no frame is refused, and so is one that is too long") {
    for (const std::string& text : {std::string("?\0\0\0\0", 5), std::string("d\x7f\0\0\0", 5)}) {
        FrameReader reader;
        reader.feed(text);
        CHECK(test::code_of([&] { reader.next(); }) == ErrorCode::invalid_argument);
    }
}
