// What the stream's sequence parameter set tells a decoder: a picture is shown when it comes, none is held
// back.
#include <fmt/format.h>
#include <gst/gst.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/media/video/h264_probes.h"
#include "tests/streamer/client/headless_client.h"

namespace svc::streamer {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr int baseline = 66, constrained = 0x40, any_aspect = 255;

// The bits of a NAL unit behind its first byte (ITU-T H.264, 7.2 and 9.1).
class Bits {
  public:
    explicit Bits(const Bytes& unit) {
        for (std::size_t i = 1, zeros = 0; i < unit.size(); ++i) {
            if (zeros < 2 || unit[i] != 3) bytes_.push_back(unit[i]);
            zeros = unit[i] == 0 ? zeros + 1 : 0;
        }
    }
    unsigned take(int count) {
        unsigned value = 0;
        for (; count > 0; --count, ++at_)
            value = value * 2 + (at_ / 8 < bytes_.size() ? bytes_[at_ / 8] >> (7 - at_ % 8) & 1U : 0U);
        return value;
    }
    bool flag() { return take(1) != 0; }
    unsigned golomb() {
        int zeros = 0;
        while (zeros < 31 && !flag()) ++zeros;
        return (1U << zeros) - 1 + take(zeros);
    }
    void skip_golombs(int count) {
        for (; count > 0; --count) golomb();
    }

  private:
    Bytes bytes_;
    std::size_t at_ = 0;
};

struct Restriction {
    unsigned reordered = 0, buffered = 0;  // pictures
};

// 7.3.2.1.1 of a baseline stream with order type 2 or 0.
void skip_to_vui(Bits& bits) {
    REQUIRE(bits.take(8) == baseline);
    CHECK((bits.take(8) & constrained) != 0);
    bits.take(8);
    bits.skip_golombs(2);
    const unsigned order = bits.golomb();
    REQUIRE(order != 1);
    if (order == 0) bits.golomb();
    bits.golomb();
    bits.flag();
    bits.skip_golombs(2);
    if (!bits.flag()) bits.flag();
    bits.flag();
    if (bits.flag()) bits.skip_golombs(4);
}

// E.1.1; nothing: the decoder has to guess.
std::optional<Restriction> read_restriction(Bits& bits) {
    if (!bits.flag()) return std::nullopt;
    if (bits.flag() && bits.take(8) == any_aspect) bits.take(32);
    if (bits.flag()) bits.flag();
    if (bits.flag()) {
        bits.take(4);
        if (bits.flag()) bits.take(24);
    }
    if (bits.flag()) bits.skip_golombs(2);
    if (bits.flag()) bits.take(32), bits.take(32), bits.flag();
    REQUIRE_FALSE(bits.flag());  // no HRD parameters in these streams
    REQUIRE_FALSE(bits.flag());
    bits.flag();
    if (!bits.flag()) return std::nullopt;
    bits.flag();
    bits.skip_golombs(4);
    const unsigned reordered = bits.golomb();
    return Restriction{reordered, bits.golomb()};
}

Bytes sequence_set_in(GstBuffer* buffer) {
    Bytes bytes(gst_buffer_get_size(buffer));
    gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
    constexpr std::array<std::uint8_t, 3> start{0, 0, 1};
    for (auto at = bytes.begin();;) {
        at = std::search(at, bytes.end(), start.begin(), start.end());
        REQUIRE(bytes.end() - at > 3);
        at += 3;
        if ((*at & 0x1F) == 7) return Bytes(at, std::search(at, bytes.end(), start.begin(), start.end()));
    }
}

// The first access unit that the payloader is given, of the encoder with the settings of a stream.
Bytes sequence_set_of(const PictureShape& shape) {
    const auto form = find_encoder(VideoCodec::h264, VideoEncoder::software);
    REQUIRE(form);
    const Ref<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(make_bin(fmt::format(
        "videotestsrc num-buffers=2 ! "
        "video/x-raw,format=I420,width={},height={},framerate={}/1 ! {} ! {} ! fakesink "
        "sync=false",
        shape.width, shape.height, shape.fps, encoder_description(*form, shape, 2000, properties_of(*form)),
        payloader_description(form->codec))))));
    const auto payloader = element_of(pipeline.get(), "payloader");
    hide_level(payloader.get());
    tidy_access_units(payloader.get());
    const auto kept = std::make_shared<Bytes>();
    const auto keep = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        Bytes& set = **static_cast<std::shared_ptr<Bytes>*>(data);
        if (set.empty()) set = sequence_set_in(gst_pad_probe_info_get_buffer(info));
        return GST_PAD_PROBE_OK;
    };
    add_probe(Ref<GstPad>(gst_element_get_static_pad(payloader.get(), "sink")).get(),
              GST_PAD_PROBE_TYPE_BUFFER, +keep, kept);
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    gst_element_get_state(pipeline.get(), nullptr, nullptr, std::chrono::nanoseconds(patience).count());
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    return *kept;
}

TEST_CASE("the sequence parameter set says that no picture is reordered and none is held back") {
    start_media();
    const auto shape =
        GENERATE(PictureShape{640, 360, 30}, PictureShape{1280, 720, 60}, PictureShape{1920, 1080, 60});
    INFO(shape.width << "x" << shape.height);
    const Bytes set = sequence_set_of(shape);
    REQUIRE_FALSE(set.empty());
    Bits bits(set);
    skip_to_vui(bits);
    const auto restriction = read_restriction(bits);
    REQUIRE(restriction);
    CHECK(restriction->reordered == 0);
    CHECK(restriction->buffered == 1);  // the picture that the next one refers to
}

}  // namespace
}  // namespace svc::streamer
