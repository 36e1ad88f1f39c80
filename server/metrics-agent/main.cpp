// svc-metrics: collects the streaming metrics of instances for Prometheus. Exit status: 0 ok, 1 failed, 2
// wrong usage.
#include <CLI/CLI.hpp>
#include <iostream>

#include "libsvc/base/error.h"
#include "server/metrics-agent/agent.h"
#include "server/process/file_limit.h"
#include "server/process/signals.h"

namespace {

using namespace svc;
using namespace svc::metrics_agent;

constexpr const char* program = "svc-metrics";

int run(const Options& options) {
    const process::Signals signals{SIGTERM, SIGINT};
    process::raise_file_limit();
    const SystemClock clock;
    const Agent agent(options, clock);
    signals.serve(program, {"udp://" + agent.write_address(), "http://" + agent.write_address() + "/write",
                            "http://" + agent.scrape_address() + "/metrics"});
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
    CLI::App app("collects the streaming metrics of instances for Prometheus", program);
    Options options;
    std::string keep = "5m";
    add_flags(app, options, keep);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e, std::cout, std::cerr) == 0 ? EXIT_SUCCESS : process::wrong_usage;
    }
    return process::exit_status_of(program, process::failed, [&] {
        options.limits.keep = with_context("--keep", [&] { return parse_duration(keep); });
        return run(options);
    });
}
