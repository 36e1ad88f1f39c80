// svc-gateway: parse, load, run. Exit status: 0 ok, 1 failed while running, 2 wrong usage or configuration.
#include <cstdlib>
#include <memory>

#include "server/gateway/gateway.h"
#include "server/process/file_limit.h"
#include "server/process/signals.h"

namespace {

using namespace svc;
using namespace svc::gateway;

constexpr const char* program = "svc-gateway";

int run(const Options& options, int argc, const char* const* argv) {
    const process::Signals signals{SIGTERM, SIGINT, SIGHUP};
    log::set_level(options.log_level);
    process::raise_file_limit();  // two sockets a session
    const auto gateway = signals.starting([&] { return std::make_unique<Gateway>(options); });
    signals.serve(program, gateway->addresses(),
                  [&] { gateway->reload(read_options(argc, argv).options.log_level); });
    gateway->stop();
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    const auto read = [&] { return read_options(argc, argv); };
    return process::run_program(program, read,
                                [&](const Options& options) { return run(options, argc, argv); });
}
