#include "instance-agent/streamer/media/video/codec_forms.h"

#include <fmt/format.h>

#include <array>

#include "libsvc/base/strings.h"

namespace svc::streamer {
namespace {

struct CodecForm {
    int payload = 0;             // the payload type of the offer
    std::string_view encoded;    // caps
    std::string_view payloader;  // "": there is none
};

// In the order of VideoCodec. The payloader of H.264 adds no parameter sets: access_units.h does.
constexpr std::array<CodecForm, 4> forms_of_codecs{{
    {h264_payload, "video/x-h264,profile=constrained-baseline,stream-format=byte-stream,alignment=au",
     "rtph264pay config-interval=0 aggregate-mode=zero-latency"},
    {vp8_payload, "video/x-vp8", "rtpvp8pay picture-id-mode=15-bit"},
    {vp9_payload, "video/x-vp9,profile=(string)0", "rtpvp9pay picture-id-mode=15-bit"},
    {0, "video/x-av1", ""},
}};

const CodecForm& form_of(VideoCodec codec) {
    return forms_of_codecs.at(static_cast<std::size_t>(codec));
}

// Key frames are sent on request; the interval of ten seconds limits the harm of a lost request.
int key_frame_distance(const PictureShape& shape) {
    return shape.fps * 10;
}

std::string feedback() {
    return fmt::format("extmap-{}=(string){},rtcp-fb-transport-cc=(boolean)true", transport_cc_extension,
                       transport_cc_uri);
}

// One thread for each encoder. x264 makes a slice in each thread, and the payloader of GStreamer 1.22 ends
// the picture after each slice. Threads of libvpx spin while they wait for each other, which costs more than
// it gains on a busy machine. The speed of VP8 is negative, that is fixed: with a positive one libvpx adapts
// it to the time that frames take. VP9 and AV1 are not told to be error resilient: a client that misses a
// frame gets none before the next key frame, and each frame may learn from the ones before.
std::string settings_of(const EncoderForm& form, int key_frame_distance) {
    if (form.element == "vah264enc")
        return fmt::format("rate-control=cbr target-usage=7 b-frames=0 ref-frames=1 key-int-max={}",
                           key_frame_distance);
    if (form.element == "nvh264enc")
        return fmt::format("rc-mode=cbr preset=low-latency-hp zerolatency=true bframes=0 gop-size={}",
                           key_frame_distance);
    if (form.element == "x264enc")
        return fmt::format(
            "tune=zerolatency speed-preset=ultrafast bframes=0 vbv-buf-capacity=300 key-int-max={} threads=1 "
            "option-string=level=3.1",
            key_frame_distance);
    if (form.element == "vp9enc")
        return fmt::format(
            "deadline=1 cpu-used=9 end-usage=cbr lag-in-frames=0 keyframe-max-dist={} error-resilient=0 "
            "threads=1 tile-columns=0 frame-parallel-decoding=false aq-mode=cyclic-refresh "
            "static-threshold=100 min-quantizer=4 max-quantizer=56 undershoot=95 buffer-initial-size=100 "
            "buffer-optimal-size=120 buffer-size=200",
            key_frame_distance);
    if (form.element == "av1enc")
        return fmt::format(
            "usage-profile=realtime cpu-used=10 end-usage=cbr lag-in-frames=0 keyframe-max-dist={} threads=1 "
            "row-mt=false min-quantizer=4 max-quantizer=56 undershoot-pct=95 buf-initial-sz=100 "
            "buf-optimal-sz=120 buf-sz=200",
            key_frame_distance);
    return fmt::format(
        "deadline=1 cpu-used=-12 end-usage=cbr lag-in-frames=0 keyframe-max-dist={} error-resilient=default "
        "threads=1 static-threshold=100 min-quantizer=4 max-quantizer=56 undershoot=95 "
        "buffer-initial-size=100 buffer-optimal-size=120 buffer-size=200",
        key_frame_distance);
}

// Some elements have a property only where their device has the feature ("bframes" of nvh264enc).
std::string known_settings(const std::string& settings, const PropertyTest& has_property) {
    std::string known;
    for (const std::string& setting : split(settings, ' '))
        if (has_property(setting.substr(0, setting.find('=')))) known += " " + setting;
    return known;
}

}  // namespace

int payload_type(VideoCodec codec) {
    return form_of(codec).payload;
}

std::span<const EncoderForm> encoder_forms() {
    static constexpr std::array<EncoderForm, 6> forms{{
        {"vah264enc", VideoCodec::h264, true, "NV12", "bitrate", 1000},
        {"nvh264enc", VideoCodec::h264, true, "NV12", "bitrate", 1000},
        {"x264enc", VideoCodec::h264, false, "I420", "bitrate", 1000},
        {"vp8enc", VideoCodec::vp8, false, "I420", "target-bitrate", 1},
        {"vp9enc", VideoCodec::vp9, false, "I420", "target-bitrate", 1},
        {"av1enc", VideoCodec::av1, false, "I420", "target-bitrate", 1000},
    }};
    return forms;
}

std::string encoded_caps(VideoCodec codec) {
    return std::string(form_of(codec).encoded);
}

std::string encoder_description(const EncoderForm& form, const PictureShape& shape, std::uint32_t kbps,
                                const PropertyTest& has_property) {
    return fmt::format("{} name=encoder {}={}{} ! {}", form.element, form.bitrate_property,
                       kbps * (1000 / form.bitrate_unit),
                       known_settings(settings_of(form, key_frame_distance(shape)), has_property),
                       encoded_caps(form.codec));
}

std::string payloader_description(VideoCodec codec) {
    const CodecForm& form = form_of(codec);
    if (form.payloader.empty()) return "";
    return fmt::format("{} name=payloader mtu=1200 pt={}", form.payloader, form.payload);
}

std::string video_caps(VideoCodec codec) {
    const std::string common =
        "application/x-rtp,media=(string)video,clock-rate=(int)90000,rtcp-fb-nack-pli=(boolean)true,"
        "rtcp-fb-ccm-fir=(boolean)true," +
        feedback();
    if (codec != VideoCodec::h264)
        return fmt::format("{},encoding-name=(string){},payload=(int){}", common, to_text(codec),
                           payload_type(codec));
    return fmt::format(
        "{},encoding-name=(string)H264,payload=(int){},packetization-mode=(string)1,"
        "profile-level-id=(string)42e01f,level-asymmetry-allowed=(string)1",
        common, h264_payload);
}

std::string audio_caps() {
    return fmt::format(
        "application/x-rtp,media=(string)audio,encoding-name=(string)OPUS,clock-rate=(int)48000,"
        "encoding-params=(string)2,payload=(int){},minptime=(string)10,stereo=(string)1,"
        "sprop-stereo=(string)1,{}",
        opus_payload, feedback());
}

std::string decoder_description(std::string_view encoding_name) {
    if (encoding_name == "VP8") return "rtpvp8depay ! vp8dec";
    if (encoding_name == "H264") return "rtph264depay ! h264parse ! openh264dec";
    return "";
}

}  // namespace svc::streamer
