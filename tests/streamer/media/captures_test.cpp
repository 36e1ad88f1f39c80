// Screenshots and recordings of a display and of the frame socket, decoded again.
#include <gst/app/gstappsink.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "instance-agent/streamer/media/capture/media_captures.h"
#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "tests/streamer/display/x_painter.h"
#include "tests/streamer/display/x_server.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;
constexpr Colour blue{20, 20, 220}, red{220, 20, 20}, green{20, 220, 20};

struct Decoded {
    std::vector<ClientPicture> pictures;
    GstClockTime last = 0;  // time of the last one
};

ClientPicture picture_of(GstSample* sample) {
    ClientPicture picture;
    const GstStructure* const form = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
    gst_structure_get_int(form, "width", &picture.width);
    gst_structure_get_int(form, "height", &picture.height);
    GstBuffer* const buffer = gst_sample_get_buffer(sample);
    picture.pixels.resize(gst_buffer_get_size(buffer));
    gst_buffer_extract(buffer, 0, picture.pixels.data(), picture.pixels.size());
    return picture;
}

Decoded decode(const std::string& bytes, const std::string& decoder) {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-captures-");
    const auto file = folder.path() / "file";
    write_file_atomically(file, bytes);
    const std::string text = "filesrc location=" + file.string() + " ! " + decoder +
                             " ! videoconvertscale ! video/x-raw,format=RGBA ! appsink name=sink sync=false";
    const Ref<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(text.c_str(), nullptr))));
    const auto sink = element_of(pipeline.get(), "sink");
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    Decoded decoded;
    constexpr GstClockTime longest = 20 * GST_SECOND;
    while (const Ref<GstSample> sample{gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), longest)}) {
        decoded.pictures.push_back(picture_of(sample.get()));
        decoded.last = GST_BUFFER_PTS(gst_sample_get_buffer(sample.get()));
    }
    CHECK(gst_app_sink_is_eos(GST_APP_SINK(sink.get())));
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    return decoded;
}

Decoded decode_mp4(const std::string& bytes) {
    return decode(bytes, "qtdemux ! h264parse ! openh264dec");
}

bool is_near(Colour seen, Colour wanted) {
    for (std::size_t i = 0; i < seen.size(); ++i)
        if (std::abs(seen[i] - wanted[i]) > 40) return false;
    return true;
}

// Of a picture that has `square` at (32,16) to (96,48), and `ground` everywhere else.
bool is_exactly(const ClientPicture& picture, Colour ground, Colour square) {
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x) {
            const bool inside = x >= 32 && x < 96 && y >= 16 && y < 48;
            if (picture.at(x, y) != (inside ? square : ground)) return false;
        }
    return true;
}

std::string screenshot_of(const CaptureSetup& setup) {
    start_media();
    std::string png;
    media_captures().screenshot(setup, [&](std::string_view bytes) { png += bytes; }, {});
    return png;
}

struct DisplayPlace {
    test::XServer server{320, 240};
    test::XPainter painter{server.display(), 320, 240};
    CaptureSetup setup{{server.display(), "", ""}, 320, 240};
    DisplayPlace() {
        start_media();
        painter.fill(blue);
    }
};

struct FramesPlace {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-captures-"};
    std::string path = (folder.path() / "frames").string();
    CaptureSetup setup{{"", path, ""}, 320, 240};
    FramesPlace() { start_media(); }
    // Once there is a socket.
    std::unique_ptr<FrameWriter> guest() const {
        REQUIRE(test::eventually([&] { return std::filesystem::exists(path); }, patience));
        return std::make_unique<FrameWriter>(path);
    }
};

}  // namespace

TEST_CASE("a screenshot has the pixels of the display, without its pointer") {
    DisplayPlace place;
    place.painter.fill(green, 32, 16, 64, 32);
    place.painter.warp_pointer(200, 100);
    const Decoded decoded = decode(screenshot_of(place.setup), "pngdec");
    REQUIRE(decoded.pictures.size() == 1);
    CHECK(decoded.pictures[0].width == 320);
    CHECK(decoded.pictures[0].height == 240);
    CHECK(is_exactly(decoded.pictures[0], blue, green));
}

TEST_CASE("a screenshot of a guest without X is the frame that it draws when the socket is there") {
    FramesPlace place;
    std::string png;
    std::jthread asks([&] { png = screenshot_of(place.setup); });
    const auto guest = place.guest();
    guest->draw(64, 48, red, green);
    asks.join();
    const Decoded decoded = decode(png, "pngdec");
    REQUIRE(decoded.pictures.size() == 1);
    CHECK(decoded.pictures[0].width == 64);
    CHECK(decoded.pictures[0].at(0, 0) == red);
    CHECK(decoded.pictures[0].at(32, 24) == green);
    CHECK_FALSE(std::filesystem::exists(place.path));
}

TEST_CASE("a screenshot that waits for a guest can be stopped") {
    FramesPlace place;
    std::stop_source stop;
    std::optional<ErrorCode> code;
    std::jthread asks([&] {
        code = test::code_of([&] {
            media_captures().screenshot(
                place.setup, [](std::string_view) {}, stop.get_token());
        });
    });
    place.guest();
    stop.request_stop();
    asks.join();
    CHECK(code == ErrorCode::cancelled);
}

TEST_CASE("a recording shows what happened, for as long as it was asked for") {
    DisplayPlace place;
    std::string mp4;
    media_captures().record(place.setup, 3s,
                            [&](std::string_view bytes) {
                                if (mp4.find("mdat") != mp4.npos) place.painter.fill(red);
                                mp4 += bytes;
                            },
                            {});
    const Decoded decoded = decode_mp4(mp4);
    REQUIRE(decoded.pictures.size() > 2);
    CHECK(decoded.pictures.front().width == 320);
    CHECK(decoded.pictures.front().height == 240);
    CHECK(is_near(decoded.pictures.front().at(160, 20), blue));
    CHECK(is_near(decoded.pictures.back().at(160, 20), red));
    CHECK(decoded.last > 2500 * GST_MSECOND);
    CHECK(decoded.last < 3500 * GST_MSECOND);
}

TEST_CASE("a recording that is stopped ends whole") {
    DisplayPlace place;
    std::stop_source stop;
    std::string mp4;
    media_captures().record(
        place.setup, 1h,
        [&](std::string_view bytes) {
            mp4 += bytes;
            if (mp4.find("mdat") != mp4.npos) stop.request_stop();
        },
        stop.get_token());
    CHECK_FALSE(decode_mp4(mp4).pictures.empty());
}

TEST_CASE("a recording ends with its reader") {
    DisplayPlace place;
    const auto leave = [](std::string_view) { throw Error(ErrorCode::cancelled, "gone"); };
    CHECK(test::code_of([&] { media_captures().record(place.setup, 1h, leave, {}); }) ==
          ErrorCode::cancelled);
}

TEST_CASE("a display that is not there cannot be captured") {
    CaptureSetup setup{{":65000", "", ""}, 320, 240};
    CHECK(test::code_of([&] { screenshot_of(setup); }) == ErrorCode::unavailable);
}

TEST_CASE("who watches a guest without X sees it on while it is captured") {
    MediaPair::Wish wish;
    MediaPair pair(wish);
    pair.connect();
    FrameWriter guest(pair.frame_path());
    const CaptureSetup setup{{"", pair.frame_path(), ""}, 320, 240};
    const auto shows = [&](Colour colour) {
        return pair.client().wait_picture(
            [&](const ClientPicture& picture) { return is_near(picture.at(40, 40), colour); }, patience);
    };
    guest.draw(320, 240, blue);
    REQUIRE(shows(blue));
    CHECK(decode(screenshot_of(setup), "pngdec").pictures.at(0).at(40, 40) == blue);
    std::string mp4;
    media_captures().record(setup, 2s,
                            [&](std::string_view bytes) {
                                if (mp4.find("mdat") == mp4.npos && bytes.find("mdat") != bytes.npos)
                                    guest.draw(320, 240, red);
                                mp4 += bytes;
                            },
                            {});
    CHECK(shows(red));
    CHECK(is_near(decode_mp4(mp4).pictures.back().at(40, 40), red));
    guest.draw(320, 240, green);
    CHECK(shows(green));
}

}  // namespace svc::streamer
