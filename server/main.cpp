// svcd: parse, load, run. Exit status: 0 ok, 1 failed while running, 2 wrong usage or configuration.
#include <sys/stat.h>

#include <cstdlib>
#include <iostream>

#include "server/daemon.h"
#include "server/process/signals.h"

namespace {

using namespace svc;
using namespace svc::server;

constexpr const char* program = "svcd";

int run(const Options& options, int argc, const char* const* argv) {
    const process::Signals signals{SIGTERM, SIGINT, SIGHUP};
    log::set_level(options.log_level);
    Daemon daemon(options);
    signals.serve(program, daemon.addresses(),
                  [&] { daemon.reload(read_options(argc, argv).options.log_level); });
    // Work that outlives its grace is recovered at the next start; tearing down would wait for it.
    if (!daemon.stop()) std::_Exit(EXIT_SUCCESS);
    return EXIT_SUCCESS;
}

int obey(const Invocation& invocation, int argc, const char* const* argv) {
    if (invocation.finished) return invocation.exit_status;
    if (invocation.options.check_only) {
        std::cout << "configuration is valid\n";
        return EXIT_SUCCESS;
    }
    if (invocation.options.tear_down) return tear_down(invocation.options), EXIT_SUCCESS;
    return run(invocation.options, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    umask(077);
    Invocation invocation;
    const int status = process::exit_status_of(program, process::wrong_usage, [&] {
        invocation = read_options(argc, argv);
        return EXIT_SUCCESS;
    });
    if (status != EXIT_SUCCESS) return status;
    return process::exit_status_of(program, process::failed, [&] { return obey(invocation, argc, argv); });
}
