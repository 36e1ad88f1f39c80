// svc-bench http: requests a second of one server, or of two in turns.
#include <algorithm>
#include <iostream>
#include <vector>

#include "libsvc/base/json.h"
#include "tests/bench/load/commands.h"
#include "tests/bench/load/http_load.h"

namespace svc::bench {

namespace {

struct HttpSide {
    Endpoint endpoint;
    std::string path;
    std::vector<LoadResult> results;
};

// The round with the median rate: its figures belong together.
const LoadResult& median(std::vector<LoadResult>& results) {
    const auto middle = results.begin() + static_cast<std::ptrdiff_t>(results.size() / 2);
    std::nth_element(results.begin(), middle, results.end(),
                     [](const auto& a, const auto& b) { return a.per_second() < b.per_second(); });
    return *middle;
}

// A connection that was not served in one round counts, whatever the others were like.
Json describe(HttpSide& side) {
    unsigned connected = ~0U, served = ~0U;
    std::uint64_t failures = 0;
    for (const LoadResult& result : side.results) {
        connected = std::min(connected, result.connected);
        served = std::min(served, result.served);
        failures += result.failures;
    }
    const LoadResult& middle = median(side.results);
    return Json::object({{"target", side.endpoint.url() + " " + side.path},
                         {"per_second", middle.per_second()},
                         {"p50_ms", middle.latencies.milliseconds(0.5)},
                         {"p99_ms", middle.latencies.milliseconds(0.99)},
                         {"max_ms", middle.latencies.max_milliseconds()},
                         {"requests", middle.requests},
                         {"failures", failures},
                         {"connected", connected},
                         {"served", served}});
}

std::vector<HttpSide> sides_of(const Arguments& arguments) {
    const auto certificate = arguments.text("certificate", "");
    const auto key = arguments.text("key", "");
    const auto path = arguments.text("path", "/1.0");
    std::vector<HttpSide> sides;
    sides.push_back({Endpoint(arguments.text("target"), certificate, key), path, {}});
    if (arguments.has("peer"))
        sides.push_back(
            {Endpoint(arguments.text("peer"), certificate, key), arguments.text("peer-path", path), {}});
    return sides;
}

Json measure(std::vector<HttpSide>& sides, const LoadPlan& plan, unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
        for (HttpSide& side : sides) {
            LoadPlan own = plan;
            own.path = side.path;
            side.results.push_back(run_load(side.endpoint, own));
        }
    }
    Json report = Json::object({{"connections", plan.connections}, {"ours", describe(sides[0])}});
    if (sides.size() < 2) return report;
    report.set("peer", describe(sides[1]));
    report.set("ratio", report.at("ours").at("per_second").as_double() /
                            report.at("peer").at("per_second").as_double());
    return report;
}

}  // namespace

int http_command(const Arguments& arguments) {
    for (const unsigned connections : arguments.numbers("connections", "1,16,64,512,2000")) {
        auto sides = sides_of(arguments);
        const LoadPlan plan{{}, connections, std::chrono::seconds(arguments.number("seconds", 3))};
        std::cout << measure(sides, plan, arguments.number("rounds", sides.size() > 1 ? 3 : 1)).dump()
                  << std::endl;
    }
    return 0;
}

}  // namespace svc::bench
