#include "instance-agent/control/control_service.h"

#include "instance-agent/control/envelope.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr std::uint64_t large_body = 1U << 20;
constexpr std::size_t large_at_once = 4;

}  // namespace

ControlService::ControlService(std::vector<Route> routes, MetricsRegistry& metrics)
    : router_(std::move(routes)), metrics_(metrics) {}

RequestPlan ControlService::plan(Request& request) {
    Router::Match match = router_.match(request.method, request.path);
    if (match.route == nullptr) throw Error(ErrorCode::invalid_argument, "API endpoint does not exist");
    request.params = std::move(match.params);
    RequestPlan plan;
    plan.dispatch = match.route->dispatch;
    plan.max_body = match.route->max_body;
    plan.open_upload = match.route->open_upload;
    plan.handler = match.route->handler;
    if (plan.max_body > large_body) admit_large(request);
    return plan;
}

void ControlService::admit_large(const Request& request) {
    if (request.content_length && *request.content_length <= large_body) return;
    const bool admitted =
        large_.with([&](auto& all) { return all.size() < large_at_once && all.insert(&request).second; });
    if (!admitted) throw Error(ErrorCode::exhausted, "too many large requests at once");
}

Response ControlService::fault(const Request*, const std::exception& error) {
    return failure(error);
}

void ControlService::done(const Request& request, int status, std::uint64_t, std::uint64_t,
                          std::chrono::nanoseconds) {
    large_.with([&](auto& all) { all.erase(&request); });
    metrics_
        .counter("runtime_requests_total", "Requests of the control API by method and status",
                 {{"method", std::string(to_text(request.method))}, {"status", std::to_string(status)}})
        .add();
}

}  // namespace svc::agent
