// svc-gateway: parse, load, run. Exit status: 0 ok, 1 failed while running, 2 wrong usage or configuration.
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <iostream>

#include "server/gateway/gateway.h"
#include "server/process/signals.h"

namespace {

using namespace svc;
using namespace svc::gateway;

constexpr const char* program = "svc-gateway";

// Two sockets a session: the usual soft limit of 1024 files would be 500 sessions.
void raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const Options& options, int argc, const char* const* argv) {
    const process::Signals signals{SIGTERM, SIGINT, SIGHUP};
    log::set_level(options.log_level);
    raise_file_limit();
    Gateway gateway(options);
    signals.serve(program, gateway.addresses(),
                  [&] { gateway.reload(read_options(argc, argv).options.log_level); });
    gateway.stop();
    return EXIT_SUCCESS;
}

int obey(const Invocation& invocation, int argc, const char* const* argv) {
    if (invocation.finished) return invocation.exit_status;
    if (invocation.options.check_only) {
        std::cout << "configuration is valid\n";
        return EXIT_SUCCESS;
    }
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
