#include "server/metrics-agent/stream_metrics.h"

#include <algorithm>

namespace svc::metrics_agent {

std::optional<std::size_t> find_stream_metric(std::string_view field) {
    const auto found = std::find_if(stream_metrics.begin(), stream_metrics.end(),
                                    [&](const StreamMetric& metric) { return metric.field == field; });
    if (found == stream_metrics.end()) return std::nullopt;
    return static_cast<std::size_t>(found - stream_metrics.begin());
}

}  // namespace svc::metrics_agent
