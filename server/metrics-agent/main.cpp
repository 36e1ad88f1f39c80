// svc-metrics: collects the streaming metrics of instances for Prometheus. Exit status: 0 ok, 1 failed, 2
// wrong usage.
#include <systemd/sd-daemon.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "libsvc/base/error.h"
#include "server/metrics-agent/agent.h"

namespace {

using namespace svc;
using namespace svc::metrics_agent;

void say(const std::string& text) {
    std::cerr << "svc-metrics: " + text + "\n" << std::flush;
}

// For every thread, before there is a second one: the main thread alone takes signals.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return signals;
}

int run(const Options& options) {
    const sigset_t signals = block_signals();
    const SystemClock clock;
    const Agent agent(options, clock);
    say("ready udp://" + agent.write_address() + " http://" + agent.write_address() + "/write http://" +
        agent.scrape_address() + "/metrics");
    sd_notify(0, "READY=1");
    int signal = 0;
    sigwait(&signals, &signal);
    sd_notify(0, "STOPPING=1");
    return EXIT_SUCCESS;
}

void add_flags(CLI::App& app, Options& options, std::string& keep) {
    app.set_version_flag("--version", std::string("svc-metrics " SVC_VERSION));
    app.add_option("--listen", options.listen, "where instances send: UDP, and HTTP POST /write")
        ->type_name("HOST:PORT")
        ->capture_default_str();
    app.add_option("--metrics-listen", options.metrics_listen, "where Prometheus asks: /metrics")
        ->type_name("HOST:PORT")
        ->capture_default_str();
    app.add_option("--keep", keep, "a series goes when so long nothing came")
        ->type_name("DURATION")
        ->capture_default_str();
    app.add_option("--max-streams", options.limits.streams, "streams at once")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--max-streams-per-source", options.limits.streams_per_source, "of one sender's address")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("collects the streaming metrics of instances for Prometheus", "svc-metrics");
    Options options;
    std::string keep = "5m";
    add_flags(app, options, keep);
    try {
        app.parse(argc, argv);
        options.limits.keep = with_context("--keep", [&] { return parse_duration(keep); });
        return run(options);
    } catch (const CLI::ParseError& e) {
        return app.exit(e, std::cout, std::cerr) == 0 ? EXIT_SUCCESS : 2;
    } catch (const Error& e) {
        say(e.what());
        return e.code() == ErrorCode::invalid_argument ? 2 : 1;
    } catch (const std::exception& e) {
        say(e.what());
        return 1;
    }
}
