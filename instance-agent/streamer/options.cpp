#include <getopt.h>

#include <cstdio>
#include <map>

#include "instance-agent/streamer/files/download_folder.h"
#include "instance-agent/streamer/start_data.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

namespace {

constexpr const char* usage =
    "usage: svc-streamer [OPTION...]\n"
    "  --user-data FILE     (default /var/lib/svc-agent/userdata); without `streaming` in it nothing is "
    "done\n"
    "  --session FILE       (default /var/lib/svc-agent/session.json)\n"
    "  --api-socket PATH    of the agent's control API (default /run/svc/api.unix)\n"
    "  --guest-socket PATH  of the agent's guest interface (default /run/svc/guest.unix)\n"
    "  --display NAME       of the X server (default :0), or none: a program of the guest draws\n"
    "  --display-socket PATH\n"
    "                       for programs that draw the display (default /run/svc/display.unix)\n"
    "  --frame-socket PATH  for frames of guests without X (default /run/svc/frames.unix)\n"
    "  --capture-socket PATH\n"
    "                       for screenshots and recordings (default /run/svc/screen.unix)\n"
    "  --audio PATH         PulseAudio's socket (default: no sound)\n"
    "  --channels-dir DIR   of the sockets of data channels (default /run/svc)\n"
    "  --traces-dir DIR     of the logs of streams, rtc_log.* (default /var/lib/svc-agent/traces)\n"
    "  --download-dir DIR   for files of clients, or none (default: Downloads of the user 1000)\n"
    "  --input auto|xtest|uinput|guest|none\n"
    "                       where keys, clicks and touches go (default auto: xtest with a display, else "
    "uinput,\n"
    "                       and guest, the program that draws the display, where there is none)\n"
    "  --gamepad-dir DIR    where programs of the guest find gamepads without uinput, or none (default "
    "/dev/input)\n"
    "  --log-level LEVEL    debug, info, warning or error (default info)\n"
    "  --list-codecs        what there is an encoder for; the first time this looks through all plugins\n"
    "  --version, --help\n";

constexpr option known[] = {{"user-data", required_argument, nullptr, 'u'},
                            {"session", required_argument, nullptr, 's'},
                            {"api-socket", required_argument, nullptr, 'A'},
                            {"guest-socket", required_argument, nullptr, 'G'},
                            {"display", required_argument, nullptr, 'd'},
                            {"display-socket", required_argument, nullptr, 'D'},
                            {"frame-socket", required_argument, nullptr, 'f'},
                            {"capture-socket", required_argument, nullptr, 'S'},
                            {"audio", required_argument, nullptr, 'a'},
                            {"channels-dir", required_argument, nullptr, 'c'},
                            {"download-dir", required_argument, nullptr, 'F'},
                            {"traces-dir", required_argument, nullptr, 't'},
                            {"input", required_argument, nullptr, 'i'},
                            {"gamepad-dir", required_argument, nullptr, 'g'},
                            {"log-level", required_argument, nullptr, 'l'},
                            {"list-codecs", no_argument, nullptr, 'C'},
                            {"version", no_argument, nullptr, 'v'},
                            {"help", no_argument, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};

InputKind input_kind(const std::string& text) {
    const std::map<std::string, InputKind> kinds{{"auto", InputKind::automatic},
                                                 {"xtest", InputKind::xtest},
                                                 {"uinput", InputKind::uinput},
                                                 {"guest", InputKind::guest},
                                                 {"none", InputKind::none}};
    const auto found = kinds.find(text);
    if (found == kinds.end()) throw_invalid("--input", "must be auto, xtest, uinput, guest or none");
    return found->second;
}

void set(Options& options, int letter, const std::string& value) {
    const std::map<int, std::filesystem::path*> paths{
        {'u', &options.user_data},        {'s', &options.session},        {'A', &options.api_socket},
        {'G', &options.guest_socket},     {'f', &options.frame_socket},   {'c', &options.channels_directory},
        {'t', &options.traces_directory}, {'D', &options.display_socket}, {'S', &options.capture_socket}};
    if (const auto path = paths.find(letter); path != paths.end()) *path->second = value;
    if (letter == 'd') options.display = value == "none" ? "" : value;
    if (letter == 'g') options.gamepad_directory = value == "none" ? "" : value;
    if (letter == 'F') options.download_directory = value == "none" ? "" : value;
    if (letter == 'a') options.audio_server = value;
    if (letter == 'i') options.input = input_kind(value);
    if (letter == 'l') options.log_level = value;
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
    Options options;
    options.download_directory = default_download_folder();
    optind = 0;  // tests parse more than once
    opterr = 0;
    for (int letter = 0; (letter = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        if (letter == 'h' || letter == 'v') {
            std::fputs(letter == 'h' ? usage : "svc-streamer " SVC_VERSION "\n", stdout);
            return std::nullopt;
        }
        if (letter == '?')
            throw Error(ErrorCode::invalid_argument,
                        "unknown or incomplete argument " + quoted(argv[optind - 1]));
        if (letter == 'C')
            options.list_codecs = true;
        else
            set(options, letter, optarg);
    }
    if (optind < argc)
        throw Error(ErrorCode::invalid_argument, "unexpected argument " + quoted(argv[optind]));
    if (options.input == InputKind::guest && !options.display.empty())
        throw_invalid("--input", "guest needs --display none: an X display has no such program");
    return options;
}

}  // namespace svc::streamer
