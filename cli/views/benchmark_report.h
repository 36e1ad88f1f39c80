#pragma once
// What a benchmark has measured, as numbers and as text.
#include <cstddef>
#include <string>
#include <vector>

#include "cli/output/document.h"
#include "libsvc/base/clock.h"

namespace svc::cli {

// One kind of work: how long each that succeeded took, why the others failed.
struct Measured {
    std::vector<Duration> took;
    std::vector<std::string> errors;
};

// Least, mean, most and percentiles in milliseconds. A percentile is a time that was measured: the smallest
// that so many are not above. All are zero when nothing was measured.
struct Spread {
    double least = 0, mean = 0, most = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};
Spread spread_of(std::vector<Duration> took);

struct BenchmarkResult {
    Measured launches, deletions;
    Duration launching{}, deleting{};  // from the first to the last
    bool interrupted = false;
};
Document benchmark_document(const BenchmarkResult& result);

}  // namespace svc::cli
