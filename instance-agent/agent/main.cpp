// svc-agent runs inside every instance, beside its guest. Where packages have hooks for it, svc-agent also
// runs before and after the guest.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <string_view>
#include <thread>

#include "instance-agent/agent/agent_sockets.h"
#include "instance-agent/agent/android/android_guest.h"
#include "instance-agent/agent/ctl/ctl.h"
#include "instance-agent/agent/files/take_over.h"
#include "instance-agent/agent/lifecycle.h"
#include "instance-agent/agent/logging/log_file.h"
#include "instance-agent/agent/options.h"
#include "instance-agent/agent/processes/command_relay.h"
#include "instance-agent/agent/processes/first_process.h"
#include "instance-agent/agent/processes/image_command.h"
#include "instance-agent/agent/processes/keep_running.h"
#include "instance-agent/agent/processes/port_relay.h"
#include "instance-agent/agent/transfer/files_command.h"
#include "libsvc/base/error.h"
#include "libsvc/net/client/direct_call.h"

namespace {

using namespace svc;

// Blocks the signals in every thread, so that only wait_for_signal() takes them.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    return signals;
}

bool is_end(int number) {
    return number > 0 && number != SIGHUP;  // the terminal that started the agent may close
}

void wait_for_signal(const sigset_t& signals) {
    while (!is_end(sigwaitinfo(&signals, nullptr))) {
    }
}

// Looks every second until a signal ends the agent.
void keep_sockets(agent::AgentSockets& sockets, const sigset_t& signals) {
    constexpr timespec look_interval{1, 0};
    while (!is_end(sigtimedwait(&signals, nullptr, &look_interval))) sockets.refresh();
}

int run_beside_guest(const agent::Options& options) {
    const sigset_t signals = block_signals();
    agent::Paths paths;
    paths.data = options.session.parent_path();
    const auto session = agent::read_session(options.session);
    std::optional<agent::LogFile> log_file;  // outside of an instance stderr is enough
    if (session) log_file.emplace(paths.logs() / "agent.log");
    if (!session) log::info("no session file, nothing is reported", {{"file", options.session.string()}});
    agent::AgentSockets sockets(options, session.has_value());
    std::jthread announcer([&](const std::stop_token& stop) {
        SystemClock clock;
        // The sockets must be there when the service learns that the guest runs: the guest may have mounted a
        // file system over them while it booted.
        const agent::Call report = [&](const Target& target, const ClientRequest& request) {
            sockets.refresh();
            return call_directly(target, request);
        };
        if (session) agent::run_with_guest(*session, paths, clock, report, stop);
    });
    std::jthread android_log;
    if (session && session->android)
        android_log = std::jthread([&](const std::stop_token& stop) {
            SystemClock clock;
            if (agent::wait_for_guest(paths, clock, stop))
                agent::keep_android_log(*session, paths, clock, stop);
        });
    keep_sockets(sockets, signals);
    return 0;
}

int run(const agent::Options& options) {
    ::mallopt(M_ARENA_MAX, 2);  // a dozen threads that mostly wait: an arena each costs more than it helps
    log::set_level(options.log_level.empty() ? log::Level::info : agent::log_level_of(options.log_level));
    switch (options.phase) {
        case agent::Phase::before_guest:
            return agent::run_before_guest(options.session, options.init);
        case agent::Phase::after_guest:
            return agent::run_after_guest(options.session, options.exit_code);
        case agent::Phase::with_guest:
            break;
    }
    return run_beside_guest(options);
}

// The first program of a container in which nothing but a command of the service runs: reaps, until it is
// told to end.
int run_pause() {
    const sigset_t signals = block_signals();
    ::signal(SIGCHLD, SIG_IGN);
    wait_for_signal(signals);
    return 0;
}

}  // namespace

int main(int argc, char** argv) try {
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (argc == 2 && command == "pause") return run_pause();
    if (command == "ctl") return agent::run_ctl({argv + 2, argv + argc});
    if (command == "keep-running") return agent::run_keep_running({argv + 2, argv + argc});
    if (command == "connect") return agent::run_port_relay({argv + 2, argv + argc});
    if (command == "files") return agent::run_files({argv + 2, argv + argc});
    if (command == "init") return agent::run_image_command({argv + 2, argv + argc});
    if (command == "take-over") return agent::run_take_over({argv + 2, argv + argc});
    if (command == "relay") return agent::run_command_relay({argv + 2, argv + argc});
    const auto options = agent::parse_options(argc, argv);
    return options ? run(*options) : 0;
} catch (const Error& e) {
    std::fprintf(stderr, "svc-agent: %s\n", e.what());
    return e.code() == ErrorCode::invalid_argument ? 2 : 1;
} catch (const std::exception& e) {
    std::fprintf(stderr, "svc-agent: %s\n", e.what());
    return 1;
}
