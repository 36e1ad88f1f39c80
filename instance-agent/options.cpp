#include "instance-agent/options.h"

#include <getopt.h>

#include <charconv>
#include <cstdio>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* usage =
    "usage: svc-agent [--session FILE] [--log-level LEVEL] [--boot -- INIT... | --after --exit-code N]\n"
    "  --session FILE      what the service put into the instance (default\n"
    "                      /var/lib/svc-agent/session.json); absent: nothing is reported\n"
    "  --log-level LEVEL   debug, info, warning or error (default info)\n"
    "  --boot -- INIT...   do what comes before the guest, then become INIT\n"
    "  --after             do what comes after the guest, then end\n"
    "  --exit-code N       of the guest, for --after (default 0)\n"
    "  --version, --help\n";

constexpr option known[] = {{"session", required_argument, nullptr, 's'},
                            {"log-level", required_argument, nullptr, 'l'},
                            {"boot", no_argument, nullptr, 'b'},
                            {"after", no_argument, nullptr, 'a'},
                            {"exit-code", required_argument, nullptr, 'e'},
                            {"version", no_argument, nullptr, 'v'},
                            {"help", no_argument, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

int parse_exit_code(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) refuse("bad exit code " + quoted(text));
    return value;
}

void choose_phase(Options& options, Phase phase) {
    if (options.phase != Phase::with_guest) refuse("--boot and --after exclude each other");
    options.phase = phase;
}

void take(Options& options, int flag, const char* bad) {
    switch (flag) {
        case 's':
            options.session = optarg;
            break;
        case 'l':
            options.log_level = log::parse_level(optarg);
            break;
        case 'b':
            return choose_phase(options, Phase::before_guest);
        case 'a':
            return choose_phase(options, Phase::after_guest);
        case 'e':
            options.exit_code = parse_exit_code(optarg);
            break;
        default:
            refuse("bad flag " + quoted(bad));
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
    optind = 0;  // for a second call in one process
    for (int flag = 0; (flag = getopt_long(argc, argv, "+", known, nullptr)) != -1;) {
        if (prints_only(flag)) return std::nullopt;
        take(options, flag, argv[optind - 1]);
    }
    options.init.assign(argv + optind, argv + argc);
    if (options.phase != Phase::before_guest && !options.init.empty())
        refuse("unexpected " + quoted(options.init[0]));
    if (options.phase == Phase::before_guest && options.init.empty())
        refuse("--boot needs a program after --");
    if (options.exit_code != 0 && options.phase != Phase::after_guest)
        refuse("--exit-code goes with --after");
    return options;
}

}  // namespace svc::agent
