#pragma once
// From batches of lines to the table, and to the text that is scraped.
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
    // Takes what can be taken and returns what was wrong with the first line that could not; "" without one.
    std::string take(std::string_view batch, std::string_view source, Transport transport);
    std::string render();  // the streams', and its own

  private:
    std::string take_line(std::string_view line, std::string_view source);

    SampleTable table_;
    MetricsRegistry registry_;
    Counter &udp_lines_, &http_lines_;
    Counter &faulty_, &unknown_, &too_many_;
    Gauge& streams_;
};

}  // namespace svc::metrics_agent
