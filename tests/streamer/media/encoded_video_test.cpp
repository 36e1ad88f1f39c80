// The display as encoded frames, without a connection: in every codec there is an encoder for.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <catch2/catch.hpp>

#include <condition_variable>
#include <cstdlib>
#include <numeric>

#include "instance-agent/streamer/media/peer/shared_video.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "tests/streamer/media/media_pair.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

constexpr Colour red{220, 20, 20}, green{20, 200, 20};
constexpr int width = 320, height = 240;

// Decodes frames as they come, and keeps the colour in the middle of the last picture.
class Decoder {
  public:
    explicit Decoder(VideoCodec codec)
        : pipeline_(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr)))) {
        const std::string name = codec == VideoCodec::h264  ? "h264parse ! openh264dec"
                                 : codec == VideoCodec::vp8 ? "vp8dec"
                                 : codec == VideoCodec::vp9 ? "vp9dec"
                                                            : "av1dec";
        gst_bin_add(GST_BIN(pipeline_.get()),
                    make_bin("appsrc name=frames format=time caps=\"" + encoded_caps(codec) + "\" ! " + name +
                             " ! videoconvert ! video/x-raw,format=RGBA ! appsink name=pictures sync=false"));
        frames_ = element_of(pipeline_.get(), "frames");
        pictures_ = element_of(pipeline_.get(), "pictures");
        gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    }
    ~Decoder() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    void take(const VideoFrame& frame) {
        GstBuffer* const buffer = gst_buffer_new_memdup(frame.bytes->data(), frame.bytes->size());
        GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(frame.time) * 1000;
        gst_app_src_push_buffer(GST_APP_SRC(frames_.get()), buffer);
    }
    std::optional<Colour> next() {
        const Ref<GstSample> sample(
            gst_app_sink_try_pull_sample(GST_APP_SINK(pictures_.get()), GST_SECOND * patience.count()));
        if (!sample) return std::nullopt;
        Colour middle{};
        gst_buffer_extract(gst_sample_get_buffer(sample.get()), (height / 2 * width + width / 2) * 4,
                           middle.data(), middle.size());
        return middle;
    }

  private:
    Ref<GstElement> pipeline_, frames_, pictures_;
};

bool is_like(Colour a, Colour b) {
    for (std::size_t i = 0; i < 3; ++i)
        if (std::abs(a[i] - b[i]) > 40) return false;
    return true;
}

// The frames of a guest's frame socket.
class Watched {
  public:
    explicit Watched(VideoCodec codec) : place_(std::filesystem::temp_directory_path(), "svc-encoded-") {
        start_media();
        decoder_ = std::make_unique<Decoder>(codec);
        PeerSetup setup;
        setup.places.frame_socket = path();
        setup.width = width;
        setup.height = height;
        setup.fps = 30;
        setup.bitrates = {3000, 3000};
        video_ = shared_video(std::make_shared<DisplayEncoders>())(
            setup, codec, {[this](const VideoFrame& frame) { take(frame); }, [](const std::string&) {}});
    }
    ~Watched() { video_.reset(); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    std::string path() const { return (place_.path() / "frames").string(); }
    EncodedVideo& video() { return *video_; }
    bool shows(Colour colour) {
        while (const auto seen = decoder_->next())
            if (is_like(*seen, colour)) return true;
        return false;
    }
    std::size_t count() {
        std::lock_guard lock(mutex_);
        return frames_.size();
    }
    bool wait_count(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return frames_.size() >= count; });
    }
    std::size_t key_frames_from(std::size_t first) {
        std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(
            std::count_if(frames_.begin() + static_cast<std::ptrdiff_t>(first), frames_.end(),
                          [](const VideoFrame& frame) { return frame.key_frame; }));
    }
    std::size_t bytes_of_last(std::size_t count) {
        std::lock_guard lock(mutex_);
        return std::accumulate(
            frames_.end() - static_cast<std::ptrdiff_t>(count), frames_.end(), std::size_t{0},
            [](std::size_t sum, const VideoFrame& frame) { return sum + frame.bytes->size(); });
    }

  private:
    void take(const VideoFrame& frame) {
        decoder_->take(frame);
        std::lock_guard lock(mutex_);
        frames_.push_back(frame);
        changed_.notify_all();
    }
    TemporaryDirectory place_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<VideoFrame> frames_;
    std::unique_ptr<Decoder> decoder_;
    std::unique_ptr<EncodedVideo> video_;
};

VideoCodec each_codec() {
    return GENERATE(VideoCodec::h264, VideoCodec::vp8, VideoCodec::vp9, VideoCodec::av1);
}

TEST_CASE("encoded frames show what the guest draws, a key frame first and more on request alone") {
    const VideoCodec codec = each_codec();
    CAPTURE(to_text(codec));
    Watched watched(codec);
    FrameWriter guest(watched.path());
    guest.draw(width, height, red);
    CHECK(watched.shows(red));
    guest.draw(width, height, green);
    CHECK(watched.shows(green));
    CHECK(watched.key_frames_from(0) == 1);
    const std::size_t before = watched.count(), served = codec == VideoCodec::av1 ? 2 : 1;  // av1_changes.h
    watched.video().request_key_frame();
    CHECK(test::eventually([&] { return watched.key_frames_from(before) == served; }, patience));
    guest.draw(width, height, red);
    CHECK(watched.shows(red));
    REQUIRE(watched.wait_count(watched.count() + 3));
    CHECK(watched.key_frames_from(before) == served);
}

// Blocks of pixels that differ in every picture.
std::string restless_frame(unsigned number) {
    std::string bytes = frame_header(width, height);
    for (unsigned y = 0; y < height; ++y)
        for (unsigned x = 0; x < width; ++x) {
            const unsigned block = (x / 8 * 7919 + y / 8 * 104729 + number * 15485863) * 2654435761U;
            for (const unsigned part : {block >> 24, block >> 16, block >> 8, 0xFFU})
                bytes.push_back(static_cast<char>(part));
        }
    return bytes;
}

TEST_CASE("frames become smaller when the bit rate is lowered while they are encoded") {
    const VideoCodec codec = each_codec();
    CAPTURE(to_text(codec));
    Watched watched(codec);
    FrameWriter guest(watched.path());
    constexpr std::size_t some = 10;
    unsigned number = 0;
    const auto draw_some = [&] {
        for (std::size_t i = 0; i < some; ++i) {
            const std::size_t before = watched.count();
            guest.send_bytes(restless_frame(++number));
            REQUIRE(watched.wait_count(before + 1));
        }
        return watched.bytes_of_last(some);
    };
    draw_some();
    const std::size_t before = draw_some();
    watched.video().set_kbps(300);
    CHECK(test::eventually([&] { return draw_some() * 3 < before * 2; }, patience));
    CHECK(watched.video().kbps() == 300);
}

}  // namespace
}  // namespace svc::streamer
