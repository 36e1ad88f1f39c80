// svc-gateway: parse, load, run. Exit status: 0 ok, 1 failed while running, 2 wrong usage or configuration.
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "libsvc/base/error.h"
#include "server/gateway/gateway.h"

namespace {

using namespace svc;
using namespace svc::gateway;

constexpr int failed = 1;
constexpr int wrong_usage = 2;

void say(const std::string& text) {
    std::cerr << "svc-gateway: " + text + "\n" << std::flush;
}

// For every thread, before there is a second one: the main thread alone takes signals.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return signals;
}

// Two sockets a session: the usual soft limit of 1024 files would be 500 sessions.
void raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void announce(const Gateway& gateway) {
    std::string text = "ready";
    for (const std::string& address : gateway.addresses()) text += " " + address;
    say(text);
    sd_notify(0, "READY=1");
}

void reload(Gateway& gateway, int argc, const char* const* argv) {
    sd_notify(0, "RELOADING=1");
    try {
        gateway.reload(read_options(argc, argv).options.log_level);
        log::info("log level and certificates were read again");
    } catch (const std::exception& e) {
        log::error("reload failed; everything stays as it was", {{"error", e.what()}});
    }
    sd_notify(0, "READY=1");
}

int run(const Options& options, int argc, const char* const* argv) {
    const sigset_t signals = block_signals();
    log::set_level(options.log_level);
    raise_file_limit();
    Gateway gateway(options);
    announce(gateway);
    int signal = 0;
    while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) reload(gateway, argc, argv);
    sd_notify(0, "STOPPING=1");
    log::info("stopping", {{"signal", std::to_string(signal)}});
    gateway.stop();
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    umask(077);
    Invocation invocation;
    try {
        invocation = read_options(argc, argv);
    } catch (const std::exception& e) {
        say(e.what());
        return wrong_usage;
    }
    if (invocation.finished) return invocation.exit_status;
    if (invocation.options.check_only) {
        std::cout << "configuration is valid\n";
        return EXIT_SUCCESS;
    }
    try {
        return run(invocation.options, argc, argv);
    } catch (const Error& e) {
        say(e.what());
        return e.code() == ErrorCode::invalid_argument ? wrong_usage : failed;
    } catch (const std::exception& e) {
        say(e.what());
        return failed;
    }
}
