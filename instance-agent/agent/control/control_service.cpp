#include "instance-agent/agent/control/control_service.h"

#include "instance-agent/agent/control/envelope.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

// Bodies in bytes: small ones are not limited, of large ones so many are received at once, and of those
// between both so many bytes.
constexpr std::uint64_t small_body = 64U << 10;
constexpr std::uint64_t large_body = 1U << 20;
constexpr std::size_t large_at_once = 4;
constexpr std::uint64_t middle_at_once = 32U << 20;

// How many bytes the body may get to have. A body that is too long for its route is refused without being
// read.
std::uint64_t body_bytes(const Request& request) {
    const std::uint64_t most = request.route->max_body;
    if (request.content_length) return *request.content_length > most ? 0 : *request.content_length;
    return request.headers.find("Transfer-Encoding") != nullptr ? most : 0;
}

}  // namespace

ControlService::ControlService(std::vector<Route> routes, MetricsRegistry& metrics)
    : RoutedService({{"", std::move(routes)}},
                    Error(ErrorCode::invalid_argument, "API endpoint does not exist")),
      metrics_(metrics) {}

void ControlService::check(const Request& request) {
    const std::uint64_t bytes = body_bytes(request);
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

Response ControlService::reply_to(const std::exception& error) {
    return failure(error);
}

void ControlService::end(const Request& request, const ServedRequest& served) {
    bodies_.with([&](auto& all) { all.erase(&request); });
    metrics_
        .counter(
            "runtime_requests_total", "Requests of the control API by method and status",
            {{"method", std::string(to_text(request.method))}, {"status", std::to_string(served.status)}})
        .add();
}

}  // namespace svc::agent
