#include "libsvc/model/instances/capture.h"

#include <catch2/catch.hpp>

#include "tests/support/error_code.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("a request for a capture is one line, which is read again") {
    CHECK(CaptureRequest::parse(CaptureRequest{}.to_json().dump()).kind == CaptureRequest::Kind::screenshot);
    const CaptureRequest asked{CaptureRequest::Kind::recording, std::chrono::seconds(30)};
    CHECK(asked.to_json().dump() == R"({"take":"recording","seconds":30})");
    const CaptureRequest read = CaptureRequest::parse(asked.to_json().dump());
    CHECK(read.kind == CaptureRequest::Kind::recording);
    CHECK(read.length == std::chrono::seconds(30));
}

TEST_CASE("blocks are read in whatever pieces they come") {
    const std::string all = capture_block(CaptureBlock::data, "pic") + capture_block(CaptureBlock::data, "") +
                            capture_block(CaptureBlock::data, "ture") +
                            capture_block(CaptureBlock::whole, "");
    for (std::size_t piece = 1; piece <= all.size(); ++piece) {
        CaptureBlocks blocks;
        std::string data;
        for (std::size_t at = 0; at < all.size(); at += piece) {
            CHECK_FALSE(blocks.is_whole());
            data += blocks.take(std::string_view(all).substr(at, piece));
        }
        CHECK(data == "picture");
        CHECK(blocks.is_whole());
    }
}

TEST_CASE("a block that tells of a failure is that error, without what a terminal obeys") {
    CaptureBlocks busy, failed, silent;
    CHECK(code_of([&] { busy.take(capture_block(CaptureBlock::busy, "taken")); }) == ErrorCode::busy);
    CHECK(message_of([&] { failed.take(capture_block(CaptureBlock::failed, "a\x1b[2J\nb\x7f")); }) ==
          "a[2Jb");
    CHECK(message_of([&] { silent.take(capture_block(CaptureBlock::failed, "")); }) ==
          "the streamer gives no reason");
}

TEST_CASE("what is no block is refused before it is kept") {
    const std::string bytes =
        GENERATE(std::string("GET / HTTP/1.1\r\n"), std::string("d\xff\xff\xff\xff", 5),
                 std::string("d\x01\x00\x10\x00", 5), std::string("w\x01\x00\x00\x00", 5),
                 std::string("f\xff\xff\x00\x00", 5), std::string("w\0\0\0\0d", 6));
    CaptureBlocks blocks;
    CHECK(code_of([&] { blocks.take(bytes); }) == ErrorCode::unavailable);
}
