#pragma once
// What the control API says of itself: GET and PATCH /1.0, GET /1.0/metrics.
#include <string>
#include <vector>

#include "instance-agent/agent/logging/log_setting.h"
#include "libsvc/base/metrics.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// `extensions` is asked at each request. Setting and metrics outlive the routes.
std::vector<Route> root_routes(std::function<std::vector<std::string>()> extensions, LogSetting& log_setting,
                               const MetricsRegistry& metrics);

}  // namespace svc::agent
