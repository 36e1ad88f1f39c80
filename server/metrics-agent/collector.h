#pragma once
// Puts lines that instances send into the table, and renders the table for Prometheus.
#include <string>
#include <string_view>

#include "libsvc/base/metrics.h"
#include "server/metrics-agent/sample_table.h"

namespace svc::metrics_agent {

// Thread-safe.
class Collector {
  public:
    Collector(const Clock& clock, SampleLimits limits);

    enum class Transport { udp, http };
    // Takes the good lines of a batch. Returns what is wrong with the first bad one; "" when all are good.
    std::string take(std::string_view batch, std::string_view source, Transport transport);
    std::string render();  // metrics of the streams, and of the collector itself

  private:
    std::string take_line(std::string_view line, std::string_view source);

    SampleTable table_;
    MetricsRegistry registry_;
    Counter &udp_lines_, &http_lines_;
    Counter &faulty_, &unknown_, &too_many_;
    Gauge& streams_;
};

}  // namespace svc::metrics_agent
