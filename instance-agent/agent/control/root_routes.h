#pragma once
// The routes of the control API itself: GET and PATCH /1.0, GET /1.0/metrics.
#include <string>
#include <vector>

#include "instance-agent/agent/logging/log_setting.h"
#include "libsvc/base/metrics.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// Each GET calls `extensions`. `log_setting` and `metrics` outlive the routes.
std::vector<Route> root_routes(std::function<std::vector<std::string>()> extensions, LogSetting& log_setting,
                               const MetricsRegistry& metrics);

}  // namespace svc::agent
