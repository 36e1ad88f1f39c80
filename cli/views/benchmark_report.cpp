#include "cli/views/benchmark_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace svc::cli {
namespace {

struct Column {
    const char* title;
    const char* key;
    double Spread::*value;
};

constexpr Column columns[] = {{"MIN", "min", &Spread::least}, {"MEAN", "mean", &Spread::mean},
                              {"P50", "p50", &Spread::p50},   {"P90", "p90", &Spread::p90},
                              {"P95", "p95", &Spread::p95},   {"P99", "p99", &Spread::p99},
                              {"MAX", "max", &Spread::most}};

double milliseconds_of(Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

// Rounds to microseconds.
double rounded(double milliseconds) {
    return std::round(milliseconds * 1000) / 1000;
}

double percentile(const std::vector<Duration>& sorted, double part) {
    const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
    return milliseconds_of(sorted[std::max<std::size_t>(rank, 1) - 1]);
}

Json measured_value(const Measured& measured, Duration total) {
    const Spread spread = spread_of(measured.took);
    Json value = Json::object({{"count", measured.took.size()},
                               {"failed", measured.errors.size()},
                               {"total_ms", rounded(milliseconds_of(total))}});
    for (const Column& column : columns)
        value.set(std::string(column.key) + "_ms", rounded(spread.*column.value));
    Json errors = Json::array();
    for (const std::string& error : measured.errors) errors.as_array().emplace_back(error);
    value.set("errors", std::move(errors));
    return value;
}

std::vector<std::string> measured_row(const std::string& name, const Measured& measured, Duration total) {
    const Spread spread = spread_of(measured.took);
    std::vector<std::string> row = {name, std::to_string(measured.took.size()),
                                    std::to_string(measured.errors.size()),
                                    fmt::format("{:.1f}", milliseconds_of(total))};
    for (const Column& column : columns)
        row.push_back(measured.took.empty() ? "" : fmt::format("{:.1f}", spread.*column.value));
    return row;
}

}  // namespace

Spread spread_of(std::vector<Duration> took) {
    if (took.empty()) return {};
    std::ranges::sort(took);
    const Duration sum = std::accumulate(took.begin(), took.end(), Duration::zero());
    return {.least = milliseconds_of(took.front()),
            .mean = milliseconds_of(sum) / static_cast<double>(took.size()),
            .most = milliseconds_of(took.back()),
            .p50 = percentile(took, 0.5),
            .p90 = percentile(took, 0.9),
            .p95 = percentile(took, 0.95),
            .p99 = percentile(took, 0.99)};
}

Document benchmark_document(const BenchmarkResult& result) {
    Document document;
    document.value = Json::object({{"launch", measured_value(result.launches, result.launching)},
                                   {"delete", measured_value(result.deletions, result.deleting)},
                                   {"interrupted", result.interrupted}});
    document.table.columns = {"WORK", "COUNT", "FAILED", "TOTAL"};
    for (const Column& column : columns) document.table.columns.emplace_back(column.title);
    document.table.rows = {measured_row("launch", result.launches, result.launching),
                           measured_row("delete", result.deletions, result.deleting)};
    return document;
}

}  // namespace svc::cli
