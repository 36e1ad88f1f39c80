#include <ctime>

#include <catch2/catch.hpp>

#include "instance-agent/agent/devices/camera/jpeg.h"
#include "libsvc/base/error.h"
#include "tests/agent/camera/jpeg_maker.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string outcome(const std::string& data) {
    try {
        const agent::Picture picture = agent::decode_jpeg(data);
        return std::to_string(picture.size().width) + "x" + std::to_string(picture.size().height);
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::invalid_argument);
        return e.what();
    }
}

int channel(std::uint32_t pixel, int number) {
    return static_cast<int>(pixel >> 8 * number & 0xFF);
}

const std::string invalid = "Image is not a valid JPEG";

// Of this thread: other programs do not make it longer.
double processor_seconds() {
    timespec time{};
    REQUIRE(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

TEST_CASE("pictures of each kind are decoded to RGBA") {
    const bool progressive = GENERATE(false, true);
    const agent::Picture picture =
        agent::decode_jpeg(plain_jpeg(640, 480, 0xFF2080E0, {.progressive = progressive}));
    CHECK(picture.size() == agent::Resolution{640, 480});
    const std::uint32_t pixel = picture.pixels()[640 * 100 + 50];
    CHECK(std::abs(channel(pixel, 0) - 0xE0) < 4);
    CHECK(std::abs(channel(pixel, 1) - 0x80) < 4);
    CHECK(std::abs(channel(pixel, 2) - 0x20) < 4);
    CHECK(channel(pixel, 3) == 0xFF);
}

TEST_CASE("grey pictures and those of inks have colours too") {
    const agent::Picture grey = agent::decode_jpeg(plain_jpeg(1280, 720, 0x90, {.colours = 1}));
    CHECK(channel(grey.pixels()[7], 2) == 0x90);
    CHECK(channel(grey.pixels()[7], 3) == 0xFF);
    const agent::Picture inks = agent::decode_jpeg(plain_jpeg(640, 480, 0x80FF0000, {.colours = 4}));
    CHECK(std::abs(channel(inks.pixels()[7], 2) - 0x80) < 4);
    CHECK(channel(inks.pixels()[7], 0) < 4);
}

TEST_CASE("only sizes of the camera are taken") {
    CHECK(outcome(plain_jpeg(1920, 1080, 0)) == "1920x1080");
    CHECK(outcome(plain_jpeg(480, 640, 0)) == "Image size 480x640 is not supported");
    CHECK(outcome(plain_jpeg(16, 16, 0)) == "Image size 16x16 is not supported");
    CHECK(outcome(with_size(plain_jpeg(16, 16, 0), 65500, 65500)) ==
          "Image size 65500x65500 is not supported");
}

TEST_CASE("what is no picture is refused") {
    CHECK(outcome("") == "Image data is empty");
    CHECK(outcome("x") == invalid);
    CHECK(outcome("\xFF\xD8\xFF") == invalid);
    CHECK(outcome(std::string(1U << 20, '\xFF')) == invalid);
    CHECK(outcome("\x89PNG\r\n\x1a\n" + std::string(1000, 'x')) == invalid);
    CHECK(outcome("\xFF\xD8\xFF\xD9") == invalid);
}

TEST_CASE("a header that lies about the size is found out") {
    const std::string small = plain_jpeg(16, 16, 0xFF112233);
    CHECK(outcome(with_size(small, 640, 480)) == invalid);
    CHECK(outcome(with_size(small, 1920, 1080)) == invalid);
    CHECK(outcome(with_size(plain_jpeg(16, 16, 0, {.progressive = true}), 640, 480, 0xC2)) == invalid);
    CHECK(outcome(with_size(small, 0, 480)) == invalid);
}

TEST_CASE("a picture cut short anywhere is refused") {
    const bool progressive = GENERATE(false, true);
    const std::string whole = make_jpeg(
        640, 480, [](unsigned x, unsigned y) { return x * 7919 ^ y * 104729; }, {.progressive = progressive});
    REQUIRE(outcome(whole) == "640x480");
    for (std::size_t size = 1; size < whole.size(); size += 1 + whole.size() / 40)
        CHECK(outcome(whole.substr(0, size)) == invalid);
}

TEST_CASE("damaged pictures are decoded or refused") {
    const std::string whole = make_jpeg(640, 480, [](unsigned x, unsigned y) { return x * 7919 ^ y * 31; });
    std::uint32_t random = 1;
    for (int round = 0; round < 60; ++round) {
        std::string damaged = whole;
        for (int i = 0; i < 5; ++i) {
            random = random * 1664525 + 1013904223;
            damaged[random % damaged.size()] = static_cast<char>(random >> 24);
        }
        CHECK_FALSE(outcome(damaged).empty());
    }
}

// Each scan costs a walk over the whole picture, and takes but a few bytes.
TEST_CASE("a picture of very many scans is given up") {
    std::string bomb = plain_jpeg(1920, 1080, 0, {.progressive = true});
    const std::size_t end = bomb.rfind("\xFF\xD9");
    std::size_t last = bomb.rfind("\xFF\xDA", end);
    REQUIRE(last != std::string::npos);
    const std::string scan = bomb.substr(last, end - last);
    std::string scans;
    for (int i = 0; i < 5000; ++i) scans += scan;
    bomb.insert(end, scans);
    const double begin = processor_seconds();
    CHECK(outcome(bomb) == invalid);
    CHECK(processor_seconds() - begin < 20);
}
