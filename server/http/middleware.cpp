#include "server/http/middleware.h"

#include "libsvc/base/error.h"
#include "server/http/query.h"
#include "server/http/response.h"

namespace svc::server {

namespace {

std::vector<Route> scrape_routes(const MetricsRegistry& metrics) {
    return {{Method::get, "/internal/1.0/metrics", Access::everyone, Dispatch::on_pool, "metrics",
             [&metrics](Request&) { return metrics_text(metrics.render()); }}};
}

}  // namespace

Middleware::Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> hypervisor)
    : RoutedService({{"", std::move(api)},
                     {std::string(metrics_listener), scrape_routes(parts.metrics)},
                     {std::string(hypervisor_listener), std::move(hypervisor)}}),
      parts_(std::move(parts)),
      http_metrics_(parts_.metrics, parts_.host),
      pacer_(parts_.clock, parts_.max_requests_per_second),
      timer_(parts_.clock, "pace") {
    announce({Transport::unix_socket, Transport::https}, routes(""));
    announce({Transport::https}, routes(hypervisor_listener));
    announce({Transport::http}, routes(metrics_listener));
}

// A rate is only right when its series is there, with zero, before the first request.
void Middleware::announce(const std::vector<Transport>& transports, const std::vector<Route>& routes) {
    for (const Transport transport : transports) {
        for (const Route& route : routes) http_metrics_.announce(transport, route.label, route.method);
        for (const Method method : {Method::get, Method::post, Method::put, Method::patch, Method::delete_})
            http_metrics_.announce(transport, no_route_label, method);
    }
}

void Middleware::begin(const Request& request) {
    http_metrics_.begin(request, label(request));
}

void Middleware::check(const Request& request) {
    parts_.authenticator.check(request.route->access, request);
}

// Only octet-streams are uploads. All other bodies are read into memory: JSON, whatever content type they
// have.
void Middleware::adapt(const Request& request, RequestPlan& plan) {
    if (!is_octet_stream(request)) plan.open_upload = {};
    if (plan.open_upload) plan.max_body = parts_.max_upload;
    const Duration delay = delay_of(request);
    if (delay > Duration::zero()) plan.handler = delayed(std::move(plan.handler), delay);
}

// Clients that are trusted with everything are not delayed: they need no flood to do harm.
Duration Middleware::delay_of(const Request& request) {
    const Peer& peer = *request.peer;
    const bool paced = peer.listener == tls_listener || peer.listener == agent_listener;
    if (!paced || parts_.authenticator.trust(peer) == Trust::trusted) return Duration::zero();
    return pacer_.delay(source_of(request, parts_.tokens));
}

// No thread is held while the delay passes.
Handler Middleware::delayed(Handler handler, Duration delay) {
    return [this, handler = std::move(handler), delay](Request& request) {
        Response response;
        response.later = [this, handler, delay, request](const Responder& respond) {
            timer_.after(delay, [this, handler, respond, request] {
                const auto run = [handler, respond, request = Request(request)]() mutable {
                    Response answer = handler(request);
                    answer.later ? answer.later(respond) : respond(std::move(answer));
                };
                if (!parts_.workers.post(run))
                    respond(failure(Error(ErrorCode::exhausted, "server is too busy")));
            });
        };
        return response;
    };
}

Response Middleware::reply_to(const std::exception& error) {
    return failure(error);
}

void Middleware::end(const Request& request, const ServedRequest& served) {
    http_metrics_.end(request, label(request), served);
}

std::string Middleware::requestor(const Request& request) {
    return server::requestor(request);
}

}  // namespace svc::server
