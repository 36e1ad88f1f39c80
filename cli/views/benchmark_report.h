#pragma once
// The results of a benchmark, as numbers and as text.
#include <cstddef>
#include <string>
#include <vector>

#include "cli/output/document.h"
#include "libsvc/base/clock.h"

namespace svc::cli {

// The results of one kind of request: the times of those that succeeded, the errors of those that failed.
struct Measured {
    std::vector<Duration> took;
    std::vector<std::string> errors;
};

// Minimum, mean, maximum and percentiles in milliseconds. A percentile is a measured time (nearest rank). All
// are zero without a measurement.
struct Spread {
    double least = 0, mean = 0, most = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};
Spread spread_of(std::vector<Duration> took);

struct BenchmarkResult {
    Measured launches, deletions;
    Duration launching{}, deleting{};  // from the first request to the last reply
    bool interrupted = false;
};
Document benchmark_document(const BenchmarkResult& result);

}  // namespace svc::cli
