#include "instance-agent/agent/options.h"

#include <getopt.h>

#include <charconv>
#include <cstdio>

#include "instance-agent/agent/logging/log_setting.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* usage =
    "usage: svc-agent [--session FILE] [--log-level LEVEL] [--boot -- INIT... | --after --exit-code N]\n"
    "                 [--api-socket PATH] [--guest-socket PATH] [--vhal-config FILE] [--automotive WHETHER]\n"
    "       svc-agent ctl COMMAND (see svc-agent ctl --help)\n"
    "       svc-agent keep-running --log FILE -- PROGRAM [ARGUMENT...]\n"
    "       svc-agent pause (wait, as the first program of a container, until a signal ends it)\n"
    "  --session FILE      what the service put into the instance (default\n"
    "                      /var/lib/svc-agent/session.json); absent: nothing is reported\n"
    "  --log-level LEVEL   trace, debug, info, warning, error or fatal (default: as it was set last, else\n"
    "                      info)\n"
    "  --api-socket PATH   of the control API (default /run/svc/api.unix)\n"
    "  --guest-socket PATH of the guest interface (default /run/svc/guest.unix)\n"
    "  --vhal-config FILE  vehicle properties instead of the built-in ones\n"
    "  --automotive yes|no|auto\n"
    "                      whether vehicle properties are served (default auto: where the image is aaos,\n"
    "                      vhal/properties.json lies beside the session, or --vhal-config is given)\n"
    "  --boot -- INIT...   do what comes before the guest, then become INIT\n"
    "  --after             do what comes after the guest, then end\n"
    "  --exit-code N       of the guest, for --after (default 0)\n"
    "  --version, --help\n";

constexpr option known[] = {{"session", required_argument, nullptr, 's'},
                            {"log-level", required_argument, nullptr, 'l'},
                            {"api-socket", required_argument, nullptr, 'A'},
                            {"guest-socket", required_argument, nullptr, 'G'},
                            {"vhal-config", required_argument, nullptr, 'V'},
                            {"automotive", required_argument, nullptr, 'M'},
                            {"boot", no_argument, nullptr, 'b'},
                            {"after", no_argument, nullptr, 'a'},
                            {"exit-code", required_argument, nullptr, 'e'},
                            {"version", no_argument, nullptr, 'v'},
                            {"help", no_argument, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};

[[noreturn]] void refuse_options(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

int parse_exit_code(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        refuse_options("bad exit code " + quoted(text));
    return value;
}

void choose_phase(Options& options, Phase phase) {
    if (options.phase != Phase::with_guest) refuse_options("--boot and --after exclude each other");
    options.phase = phase;
}

Automotive parse_automotive(std::string_view text) {
    if (text == "auto") return Automotive::automatic;
    if (text == "yes") return Automotive::yes;
    if (text != "no") refuse_options("--automotive is yes, no or auto");
    return Automotive::no;
}

// Refuses an empty path; a relative path is relative to the working directory.
std::filesystem::path parse_path(const char* text) {
    if (*text == '\0') refuse_options("a path is empty");
    return std::filesystem::absolute(text);
}

bool take_path(Options& options, int flag) {
    if (flag == 's') options.session = parse_path(optarg);
    if (flag == 'A') options.api_socket = parse_path(optarg);
    if (flag == 'G') options.guest_socket = parse_path(optarg);
    if (flag == 'V') options.vhal_config = parse_path(optarg);
    return flag == 's' || flag == 'A' || flag == 'G' || flag == 'V';
}

void take(Options& options, int flag, const char* bad) {
    if (take_path(options, flag)) return;
    switch (flag) {
        case 'l':
            (void)log_level_of(optarg);
            options.log_level = optarg;
            break;
        case 'M':
            options.automotive = parse_automotive(optarg);
            break;
        case 'b':
            return choose_phase(options, Phase::before_guest);
        case 'a':
            return choose_phase(options, Phase::after_guest);
        case 'e':
            options.exit_code = parse_exit_code(optarg);
            break;
        default:
            refuse_options("bad flag " + quoted(bad));
    }
}

bool prints_only(int flag) {
    if (flag == 'v') std::puts("svc-agent " SVC_VERSION);
    if (flag == 'h') std::fputs(usage, stdout);
    return flag == 'v' || flag == 'h';
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
    Options options;
    opterr = 0;
    optind = 0;  // getopt_long() starts anew: tests parse more than once
    for (int flag = 0; (flag = getopt_long(argc, argv, "+", known, nullptr)) != -1;) {
        if (prints_only(flag)) return std::nullopt;
        take(options, flag, argv[optind - 1]);
    }
    options.init.assign(argv + optind, argv + argc);
    if (options.phase != Phase::before_guest && !options.init.empty())
        refuse_options("unexpected " + quoted(options.init[0]));
    if (options.phase == Phase::before_guest && options.init.empty())
        refuse_options("--boot needs a program after --");
    if (options.exit_code != 0 && options.phase != Phase::after_guest)
        refuse_options("--exit-code goes with --after");
    return options;
}

}  // namespace svc::agent
