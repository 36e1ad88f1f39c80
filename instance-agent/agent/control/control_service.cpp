#include "instance-agent/agent/control/control_service.h"

#include "instance-agent/agent/control/envelope.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr std::uint64_t small_body = 64U << 10;  // these are not counted
constexpr std::uint64_t large_body = 1U << 20;
constexpr std::size_t large_at_once = 4;
constexpr std::uint64_t middle_at_once = 32U << 20;  // bytes

// How long the body may get. One that is too long for its route is refused without being read.
std::uint64_t body_bytes(const Request& request, const RequestPlan& plan) {
    if (request.content_length) return *request.content_length > plan.max_body ? 0 : *request.content_length;
    return request.headers.find("Transfer-Encoding") != nullptr ? plan.max_body : 0;
}

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
    admit(request, body_bytes(request, plan));
    return plan;
}

void ControlService::admit(const Request& request, std::uint64_t bytes) {
    if (bytes <= small_body) return;
    const bool admitted = bodies_.with([&](auto& all) {
        std::size_t large = 0;
        std::uint64_t middle = 0;
        for (const auto& [other, size] : all) size > large_body ? ++large : middle += size;
        const bool room = bytes > large_body ? large < large_at_once : middle + bytes <= middle_at_once;
        return room && all.emplace(&request, bytes).second;
    });
    if (!admitted) throw Error(ErrorCode::exhausted, "too many large requests at once");
}

Response ControlService::fault(const Request*, const std::exception& error) {
    return failure(error);
}

void ControlService::done(const Request& request, int status, std::uint64_t, std::uint64_t,
                          std::chrono::nanoseconds) {
    bodies_.with([&](auto& all) { all.erase(&request); });
    metrics_
        .counter("runtime_requests_total", "Requests of the control API by method and status",
                 {{"method", std::string(to_text(request.method))}, {"status", std::to_string(status)}})
        .add();
}

}  // namespace svc::agent
