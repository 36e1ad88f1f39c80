// svcd: parse, load, run. Exit status: 0 ok, 1 failed while running, 2 wrong usage or configuration.
#include <cstdlib>

#include "libsvc/base/error.h"
#include "server/daemon.h"
#include "server/process/file_limit.h"
#include "server/process/signals.h"
#include "server/runtime_choice.h"
#include "server/state_commands.h"

namespace {

using namespace svc;
using namespace svc::server;

constexpr const char* program = "svcd";

Daemon started(const Options& options) {
    try {
        return Daemon(options);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::internal)
            process::say(program,
                         "svcd check tells more of the state directory, svcd recover mends what it can");
        throw;
    }
}

int run(const Options& options, int argc, const char* const* argv) {
    const process::Signals signals{SIGTERM, SIGINT, SIGHUP};
    log::set_level(options.log_level);
    process::raise_file_limit();  // three pidfds a container, beside the connections
    Daemon daemon = signals.starting([&] { return started(options); });
    signals.serve(program, daemon.addresses(),
                  [&] { daemon.reload(read_options(argc, argv).options.log_level); });
    const int status = daemon.lost() ? process::failed : EXIT_SUCCESS;
    // Work that outlives its grace is recovered at the next start; tearing down would wait for it.
    if (!daemon.stop()) std::_Exit(status);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    if (const auto status = state::run_tool(argc, argv)) return *status;
    const auto read = [&] { return read_options(argc, argv); };
    return process::run_program(program, read, [&](const Options& options) {
        if (options.tear_down) return process::raise_file_limit(), tear_down(options), EXIT_SUCCESS;
        return run(options, argc, argv);
    });
}
