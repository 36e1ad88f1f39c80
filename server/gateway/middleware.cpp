#include "server/gateway/middleware.h"

#include "libsvc/base/error.h"
#include "server/gateway/response.h"
#include "server/login/authenticate.h"

namespace svc::gateway {

namespace {

// The gateway does not answer yet, or no longer: 503.
struct NotServing : Error {
    explicit NotServing(Phase phase)
        : Error(ErrorCode::unavailable,
                phase == Phase::starting ? "gateway is starting" : "gateway is stopping") {}
};

}  // namespace

Middleware::Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> metrics)
    : RoutedService({{"", std::move(api)},
                     {std::string(metrics_listener), std::move(metrics)},
                     {std::string(server::managers_listener), {}}}),
      parts_(parts),
      preflight_{Method::options,        "",          Access::everyone,
                 Dispatch::on_io_thread, "preflight", [](Request&) { return Cors::preflight(); }} {
    for (const std::string_view listener : {std::string_view(), metrics_listener})
        for (const Route& route : routes(listener)) parts_.metrics.announce(route.label, route.method);
}

const Route* Middleware::unlisted_route(const Request& request, bool path_known) {
    return request.method == Method::options && path_known ? &preflight_ : nullptr;
}

void Middleware::begin(const Request&) {
    parts_.metrics.begin();
}

void Middleware::check(const Request& request) {
    if (request.route == &preflight_) return;
    const Phase phase = parts_.phase;
    if (phase != Phase::serving && request.peer->listener != metrics_listener) throw NotServing(phase);
    parts_.authenticator.check(request.route->access, request);
}

void Middleware::adapt(const Request& request, RequestPlan& plan) {
    const std::string& listener = request.peer->listener;
    const bool is_api = listener == api_listener || listener == local_listener;
    if (parts_.detour && is_api && !plan.refusal) parts_.detour(request, plan);
}

Response Middleware::reply_to(const std::exception& error) {
    if (dynamic_cast<const NotServing*>(&error) == nullptr) return failure(error);
    Response response = refusal(503, error.what());
    response.headers.set("Retry-After", "1");
    return response;
}

// Browsers want to see in every reply, refusals included, which pages may read it.
void Middleware::decorate(const Request& request, Response& response) {
    parts_.cors.decorate(request, response);
    response.headers.set("X-Content-Type-Options", "nosniff");
    if (response.websocket)
        response.websocket = parts_.metrics.counted(std::move(response.websocket), label(request));
}

// A request that became a WebSocket is counted when the WebSocket ends.
void Middleware::end(const Request& request, const ServedRequest& served) {
    parts_.metrics.end();
    if (served.status != 101) parts_.metrics.count(label(request), request.method, served);
}

}  // namespace svc::gateway
