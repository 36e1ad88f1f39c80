#include "instance-agent/options.h"

#include <getopt.h>

#include <cstdio>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr const char* usage =
    "usage: svc-agent [--session FILE] [--log-level LEVEL]\n"
    "  --session FILE      what the service put into the instance (default "
    "/var/lib/svc-agent/session.json);\n"
    "                      absent: nothing is reported\n"
    "  --log-level LEVEL   debug, info, warning or error (default info)\n"
    "  --version, --help\n";

constexpr option known[] = {{"session", required_argument, nullptr, 's'},
                            {"log-level", required_argument, nullptr, 'l'},
                            {"version", no_argument, nullptr, 'v'},
                            {"help", no_argument, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
    Options options;
    opterr = 0;
    for (int flag = 0; (flag = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (flag) {
            case 's':
                options.session = optarg;
                break;
            case 'l':
                options.log_level = log::parse_level(optarg);
                break;
            case 'v':
                std::puts("svc-agent " SVC_VERSION);
                return std::nullopt;
            case 'h':
                std::fputs(usage, stdout);
                return std::nullopt;
            default:
                throw Error(ErrorCode::invalid_argument, std::string("bad flag '") + argv[optind - 1] + "'");
        }
    }
    if (optind < argc)
        throw Error(ErrorCode::invalid_argument, std::string("unexpected '") + argv[optind] + "'");
    return options;
}

}  // namespace svc::agent
