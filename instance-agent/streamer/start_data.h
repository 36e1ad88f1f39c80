#pragma once
// The inputs of svc-streamer at its start: command line, user data, session file.
#include <filesystem>
#include <optional>
#include <string>

#include "instance-agent/streamer/client/gateway_link.h"
#include "instance-agent/streamer/metrics/stream_metrics.h"
#include "libsvc/model/instances/capture.h"
#include "libsvc/model/packages/video_encoder.h"

namespace svc::streamer {

enum class InputKind { automatic, xtest, uinput, guest, none };

struct Options {
    std::filesystem::path user_data = "/var/lib/svc-agent/userdata";
    std::filesystem::path session = "/var/lib/svc-agent/session.json";
    std::filesystem::path api_socket = "/run/svc/api.unix";
    std::filesystem::path guest_socket = "/run/svc/guest.unix";
    std::filesystem::path display_socket = "/run/svc/display.unix";
    std::filesystem::path frame_socket = "/run/svc/frames.unix";
    std::filesystem::path capture_socket = svc::capture_socket;
    std::filesystem::path channels_directory = "/run/svc";
    std::filesystem::path traces_directory = "/var/lib/svc-agent/traces";
    std::filesystem::path gamepad_directory = "/dev/input";  // "": none
    std::filesystem::path download_directory;                // of files of clients; "": none
    std::string display = ":0";                              // "": none
    std::string audio_server;                                // "": none
    InputKind input = InputKind::automatic;
    std::string log_level = "info";
    bool list_codecs = false;  // list codecs and exit
};
// Nothing: --help or --version was printed. Throws invalid_argument.
std::optional<Options> parse_options(int argc, char** argv);

// From the user data.
struct StreamStart {
    std::string session_id;
    GatewayAddress gateway;
    std::string app, region;
    int width = 0, height = 0, density = 0, fps = 0;
};
// Nothing: the platform does not stream, or the user data has no `streaming`. Throws invalid_argument when
// `streaming` is wrong.
std::optional<StreamStart> read_user_data(const std::string& platform, const std::string& text);

// From the session file. Outside of an instance all may be absent.
struct InstanceFacts {
    std::string instance_id;
    std::string platform = "webrtc";
    std::optional<MetricsServer> metrics_server;
    VideoEncoder encoder = VideoEncoder::gpu_preferred;  // the manifest's video-encoder
};
InstanceFacts read_session(const std::filesystem::path& file);

}  // namespace svc::streamer
