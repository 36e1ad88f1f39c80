// The packets of an H.264 stream, by each encoder that is installed: whatever it writes, players get whole
// pictures.
#include <gst/app/gstappsink.h>
#include <gst/rtp/gstrtpbuffer.h>
#include <catch2/catch.hpp>

#include <algorithm>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/media/video/h264_probes.h"
#include "tests/streamer/client/headless_client.h"
#include "tests/support/skip.h"

namespace svc::streamer {
namespace {

constexpr int pictures = 40, between_requests = 8;
constexpr int slice = 1, key_slice = 5, sequence_set = 7, picture_set = 8, bundle = 24, fragment = 28;

struct Packet {
    std::uint32_t time = 0;
    bool marker = false;
    std::vector<int> kinds;  // of the units that begin in it
};

std::vector<int> kinds_in(const std::uint8_t* payload, guint size) {
    const int first = payload[0] & 0x1F;
    if (first == fragment)
        return (payload[1] & 0x80) != 0 ? std::vector<int>{payload[1] & 0x1F} : std::vector<int>{};
    if (first != bundle) return {first};
    std::vector<int> kinds;
    for (guint at = 1; at + 2 < size; at += 2 + payload[at] * 256u + payload[at + 1])
        kinds.push_back(payload[at + 2] & 0x1F);
    return kinds;
}

Packet read(GstBuffer* buffer) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    REQUIRE(gst_rtp_buffer_map(buffer, GST_MAP_READ, &rtp));
    const Packet packet{gst_rtp_buffer_get_timestamp(&rtp), gst_rtp_buffer_get_marker(&rtp) != FALSE,
                        kinds_in(static_cast<const std::uint8_t*>(gst_rtp_buffer_get_payload(&rtp)),
                                 gst_rtp_buffer_get_payload_len(&rtp))};
    gst_rtp_buffer_unmap(&rtp);
    return packet;
}

GstPadProbeReturn ask_now_and_then(GstPad* pad, GstPadProbeInfo*, gpointer data) {
    if (++**static_cast<std::shared_ptr<int>*>(data) % between_requests != 0) return GST_PAD_PROBE_OK;
    const Ref<GstElement> encoder(gst_pad_get_parent_element(pad));
    request_key_frame(encoder.get());
    return GST_PAD_PROBE_OK;
}

bool is_there(const std::string& encoder) {
    const Ref<GstElement> element(
        gst_element_factory_make(encoder.substr(0, encoder.find(' ')).c_str(), nullptr));
    if (!element) return false;
    gst_object_ref_sink(element.get());
    const bool works = gst_element_set_state(element.get(), GST_STATE_READY) != GST_STATE_CHANGE_FAILURE;
    gst_element_set_state(element.get(), GST_STATE_NULL);
    return works;
}

// Of moving pictures, some of them asked for as key frames in the way a player asks.
std::vector<Packet> packets_of(const std::string& encoder) {
    const Ref<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(
        make_bin("videotestsrc pattern=ball num-buffers=" + std::to_string(pictures) +
                 " ! video/x-raw,format=I420,width=640,height=360,framerate=30/1 ! " + encoder +
                 " name=encoder ! " + encoded_caps(VideoCodec::h264) + " ! " +
                 payloader_description(VideoCodec::h264) + " ! appsink name=packets sync=false"))));
    const auto sink = element_of(pipeline.get(), "packets"), coder = element_of(pipeline.get(), "encoder");
    tidy_access_units(element_of(pipeline.get(), "payloader").get());
    add_probe(Ref<GstPad>(gst_element_get_static_pad(coder.get(), "sink")).get(), GST_PAD_PROBE_TYPE_BUFFER,
              ask_now_and_then, std::make_shared<int>(0));
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    std::vector<Packet> packets;
    const GstClockTime longest = std::chrono::nanoseconds(patience).count();
    while (const Ref<GstSample> sample{gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), longest)})
        packets.push_back(read(gst_sample_get_buffer(sample.get())));
    CHECK(gst_app_sink_is_eos(GST_APP_SINK(sink.get())));
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    return packets;
}

std::vector<std::vector<Packet>> by_time(const std::vector<Packet>& packets) {
    std::vector<std::vector<Packet>> units;
    for (const Packet& packet : packets) {
        if (units.empty() || units.back().back().time != packet.time) units.emplace_back();
        units.back().push_back(packet);
    }
    return units;
}

// One picture, with its parameter sets if it begins anew; its end is marked, and nothing else is.
void check_unit(const std::vector<Packet>& unit) {
    std::vector<int> kinds;
    for (const Packet& packet : unit) {
        kinds.insert(kinds.end(), packet.kinds.begin(), packet.kinds.end());
        CHECK(packet.marker == (&packet == &unit.back()));
    }
    const auto count = [&](int kind) { return std::count(kinds.begin(), kinds.end(), kind); };
    const bool key = count(key_slice) > 0;
    CHECK(count(slice) + count(key_slice) > 0);
    CHECK(count(sequence_set) == (key ? 1 : 0));
    CHECK(count(picture_set) == (key ? 1 : 0));
    if (key) CHECK((kinds[0] == sequence_set && kinds[1] == picture_set));
}

TEST_CASE("packets of a picture have one time, its end alone is marked, parameter sets come with it") {
    start_media();
    const auto encoder =
        GENERATE(as<std::string>(), "x264enc tune=zerolatency speed-preset=ultrafast threads=1",
                 "x264enc tune=zerolatency speed-preset=ultrafast threads=1 aud=false", "openh264enc",
                 "vah264enc", "nvh264enc", "v4l2h264enc");
    if (!is_there(encoder)) {
        REQUIRE_FALSE(encoder.starts_with("x264enc"));  // the one that every machine with these tests has
        test::skip(encoder.substr(0, encoder.find(' ')) + " is not here");
    }
    INFO(encoder);
    const auto units = by_time(packets_of(encoder));
    CHECK(units.size() == pictures);
    const auto is_key = [](const std::vector<Packet>& unit) {
        return unit.front().kinds.front() == sequence_set;
    };
    CHECK(std::count_if(units.begin(), units.end(), is_key) >= pictures / between_requests);
    for (const auto& unit : units) check_unit(unit);
}

}  // namespace
}  // namespace svc::streamer
