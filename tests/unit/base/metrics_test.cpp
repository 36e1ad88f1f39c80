#include "libsvc/base/metrics.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

TEST_CASE("metrics are rendered in the text format") {
    svc::MetricsRegistry registry;
    registry.counter("b_total", "help \\ with\nlines", {{"path", "a\"b\\c\nd"}}).add(3);
    registry.gauge("a_count", "untyped one", {}, "untyped").set(-2);
    auto& histogram = registry.histogram("c_seconds", "times", {0.5, 10}, {{"kind", "x"}});
    histogram.observe(0.5);
    histogram.observe(2);
    histogram.observe(100);
    registry.add_collector([](std::string& out) { out += "# TYPE extra gauge\nextra 1\n"; });
    CHECK(
        registry.render() ==
        "# HELP a_count untyped one\n# TYPE a_count untyped\na_count -2\n"
        "# HELP b_total help \\\\ with\\nlines\n# TYPE b_total counter\nb_total{path=\"a\\\"b\\\\c\\nd\"} 3\n"
        "# HELP c_seconds times\n# TYPE c_seconds histogram\n"
        "c_seconds_bucket{kind=\"x\",le=\"0.5\"} 1\nc_seconds_bucket{kind=\"x\",le=\"10\"} 2\n"
        "c_seconds_bucket{kind=\"x\",le=\"+Inf\"} 3\nc_seconds_sum{kind=\"x\"} "
        "102.5\nc_seconds_count{kind=\"x\"} 3\n"
        "# TYPE extra gauge\nextra 1\n");
}

TEST_CASE("a series is found again by its labels") {
    svc::MetricsRegistry registry;
    CHECK(&registry.counter("n", "h", {{"a", "1"}}) == &registry.counter("n", "h", {{"a", "1"}}));
    CHECK(&registry.counter("n", "h", {{"a", "1"}}) != &registry.counter("n", "h", {{"a", "2"}}));
    CHECK_THROWS_AS(registry.gauge("n", "h"), svc::Error);
}

TEST_CASE("bounds and values are written as other exporters write them") {
    svc::MetricsRegistry registry;
    registry.histogram("size_bytes", "h", {100, 1e5, 1e6}).observe(7);
    const std::string text = registry.render();
    for (const char* bound : {"le=\"100\"", "le=\"100000\"", "le=\"1e+06\"", "le=\"+Inf\""})
        CHECK(text.find(bound) != std::string::npos);
    std::string numbers;
    for (const double number : {0.0, -3.0, 0.1, 1.5e-7, 12345678.0}) {
        svc::append_number(numbers, number);
        numbers += ' ';
    }
    CHECK(numbers == "0 -3 0.1 1.5e-07 12345678 ");
}

TEST_CASE("a family is written by hand") {
    std::string out;
    svc::MetricFamily family(out, "used_bytes", "what is used", "gauge");
    family.add(svc::render_labels({{"id", "a\"b"}}), std::uint64_t{18446744073709551615U});
    family.add("", 0.5);
    CHECK(out ==
          "# HELP used_bytes what is used\n# TYPE used_bytes gauge\n"
          "used_bytes{id=\"a\\\"b\"} 18446744073709551615\nused_bytes 0.5\n");
}
