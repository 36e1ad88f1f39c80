#include "instance-agent/streamer/media/sound/sound.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "libsvc/base/file.h"

namespace svc::streamer {
namespace {

// A source without a server ends its whole branch, so the server is checked before.
bool answers(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path)) return false;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

void set_server(GstElement* bin, const char* name, const std::string& path) {
    const auto element = element_of(bin, name);
    g_object_set(element.get(), "server", ("unix:" + path).c_str(), nullptr);
}

}  // namespace

std::string answering_server(const std::string& audio_server) {
    return answers(audio_server) ? audio_server : "";
}

GstElement* make_opus_sound(const std::string& server, const std::string& end) {
    const char* const source =
        server.empty()
            ? "audiotestsrc is-live=true wave=silence samplesperbuffer=960"
            : "pulsesrc name=sound device=@DEFAULT_MONITOR@ provide-clock=false buffer-time=40000 "
              "latency-time=10000 ! queue max-size-time=100000000 leaky=downstream ! audioconvert ! "
              "audioresample";
    GstElement* const bin = make_bin(
        fmt::format("{} ! audio/x-raw,rate=48000,channels=2 ! opusenc bitrate={} frame-size=20 dtx=true "
                    "audio-type=restricted-lowdelay ! {}",
                    source, audio_bits_per_second, end));
    if (!server.empty()) set_server(bin, "sound", server);
    return bin;
}

GstElement* make_sound_out(const std::string& audio_server, const std::shared_ptr<SendMeter>& sent) {
    GstElement* const bin =
        make_opus_sound(answering_server(audio_server),
                        fmt::format("rtpopuspay name=payloader dtx=true pt={}", opus_payload));
    meter_payloader(element_of(bin, "payloader").get(), sent);
    return bin;
}

GstElement* make_opus_microphone(const std::string& audio_server, const std::string& begin) {
    const bool has_server = answers(audio_server);
    const char* const sink = has_server ? "pulsesink name=microphone device=svc_microphone sync=false "
                                          "async=false buffer-time=60000 latency-time=10000"
                                        : "fakesink sync=false async=false";
    GstElement* const bin =
        make_bin(fmt::format("{} ! opusdec ! audioconvert ! audioresample ! {}", begin, sink));
    if (has_server) set_server(bin, "microphone", audio_server);
    return bin;
}

GstElement* make_microphone_in(const std::string& audio_server) {
    return make_opus_microphone(audio_server, "valve name=gate ! rtpopusdepay");
}

}  // namespace svc::streamer
