#pragma once
// What svc-streamer is told when it starts: its command line, the user data, the session file.
#include <filesystem>
#include <optional>
#include <string>

#include "instance-agent/streamer/client/gateway_link.h"
#include "instance-agent/streamer/metrics/stream_metrics.h"

namespace svc::streamer {

enum class InputKind { automatic, xtest, uinput, none };

struct Options {
    std::filesystem::path user_data = "/var/lib/svc-agent/userdata";
    std::filesystem::path session = "/var/lib/svc-agent/session.json";
    std::filesystem::path api_socket = "/run/svc/api.unix";
    std::filesystem::path guest_socket = "/run/svc/guest.unix";
    std::filesystem::path frame_socket = "/run/svc/frames.unix";
    std::filesystem::path channels_directory = "/run/svc";
    std::filesystem::path traces_directory = "/var/lib/svc-agent/traces";
    std::string display = ":0";  // "": none
    std::string audio_server;    // "": none
    InputKind input = InputKind::automatic;
    std::string log_level = "info";
    bool list_codecs = false;  // and do nothing else
};
// Nothing: --help or --version was answered. Throws invalid_argument.
std::optional<Options> parse_options(int argc, char** argv);

// Of the user data.
struct StreamStart {
    std::string session_id;
    GatewayAddress gateway;
    std::string app, region;
    int width = 1280, height = 720, density = 240, fps = 60;
};
// Nothing: nobody streams. Throws invalid_argument when `streaming` is there and wrong.
std::optional<StreamStart> read_user_data(const std::string& text);

// Of the session file; all may be missing outside of an instance.
struct InstanceFacts {
    std::string instance_id;
    std::optional<MetricsServer> metrics_server;
};
InstanceFacts read_session(const std::filesystem::path& file);

}  // namespace svc::streamer
