#include "server/http/middleware.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "server/http/query.h"
#include "server/http/refusal.h"
#include "server/http/response.h"

namespace svc::server {

namespace {

constexpr std::string_view not_found = "not_found";  // label of what no route is there for

Response run(const Handler& handler, Request& request) {
    const log::Scope scope({"request", request.id});
    try {
        return handler(request);
    } catch (const std::exception& e) {
        return failure(e);
    }
}

// Anything else than an octet-stream is read into memory: JSON, whatever its client says of it.
bool is_upload(const Route& route, const Request& request) {
    return route.open_upload && is_octet_stream(request);
}

std::vector<Route> scrape_routes(const MetricsRegistry& metrics) {
    return {{Method::get, "/internal/1.0/metrics", Access::everyone, Dispatch::on_pool, "metrics",
             [&metrics](Request&) { return metrics_text(metrics.render()); }}};
}

}  // namespace

Middleware::Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> hypervisor)
    : parts_(std::move(parts)),
      http_metrics_(parts_.metrics, parts_.host),
      api_(std::move(api)),
      metrics_(scrape_routes(parts_.metrics)),
      hypervisor_(std::move(hypervisor)),
      pacer_(parts_.clock, parts_.max_requests_per_second),
      timer_(parts_.clock, "pace") {
    announce_series();
}

// Rates are only right when a series is there, with zero, before its first request.
void Middleware::announce_series() {
    const auto announce = [this](Transport transport, const Router& router) {
        for (const Route& route : router.routes())
            http_metrics_.announce(transport, route.label, route.method);
        for (const Method method : {Method::get, Method::post, Method::put, Method::patch, Method::delete_})
            http_metrics_.announce(transport, not_found, method);
    };
    announce(Transport::unix_socket, api_);
    announce(Transport::https, api_);
    announce(Transport::https, hypervisor_);
    announce(Transport::http, metrics_);
}

const Router& Middleware::router(const Request& request) const {
    if (request.peer->listener == metrics_listener) return metrics_;
    return request.peer->listener == hypervisor_listener ? hypervisor_ : api_;
}

Router::Match Middleware::find(const Request& request) const {
    Router::Match match = router(request).match(request.method, request.path);
    if (!match.route) throw Error(ErrorCode::not_found, "not found");
    parts_.authenticator.check(match.route->access, request);
    return match;
}

std::string_view Middleware::label(const Request& request) const {
    const Router::Match match = router(request).match(request.method, request.path);
    return match.route ? std::string_view(match.route->label) : not_found;
}

RequestPlan Middleware::accepted(const Route& route) const {
    RequestPlan plan;
    plan.dispatch = route.dispatch;
    plan.max_body = route.max_body;
    plan.handler = [&route](Request& request) { return run(route.handler, request); };
    return plan;
}

// What a request has to wait for its source's others. Those who may do everything need not flood us to harm.
Duration Middleware::pause(const Request& request) {
    const Peer& peer = *request.peer;
    const bool paced = peer.listener == tls_listener || peer.listener == agent_listener;
    if (!paced || parts_.authenticator.trust(peer) == Trust::trusted) return Duration::zero();
    return pacer_.delay(source_of(request, parts_.tokens));
}

// Holds no thread while the time passes.
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

RequestPlan Middleware::plan(Request& request) {
    request.id = parts_.ids.object_id();
    http_metrics_.begin(request, label(request));
    RequestPlan plan = answer(request);
    const Duration delay = pause(request);
    if (delay > Duration::zero()) plan.handler = delayed(std::move(plan.handler), delay);
    return plan;
}

RequestPlan Middleware::answer(Request& request) const {
    try {
        Router::Match match = find(request);
        request.params = std::move(match.params);
        RequestPlan plan = accepted(*match.route);
        if (is_upload(*match.route, request)) {
            plan.open_upload = match.route->open_upload;
            plan.max_body = parts_.max_upload;
        }
        return plan;
    } catch (const Error&) {
        return refused(request, std::current_exception(), run);
    }
}

Response Middleware::fault(const Request* request, const std::exception& error) {
    if (!request) return failure(error);
    const log::Scope scope({"request", request->id});
    return failure(error);
}

void Middleware::done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                      std::chrono::nanoseconds duration) {
    http_metrics_.end(request, label(request), {received, sent, duration});
    if (log::level() > log::Level::debug) return;
    log::debug("request served", {{"request", request.id},
                                  {"from", requestor(request)},
                                  {"method", request.method_text},
                                  {"path", request.path},
                                  {"status", std::to_string(status)},
                                  {"duration", format_duration(duration)}});
}

}  // namespace svc::server
