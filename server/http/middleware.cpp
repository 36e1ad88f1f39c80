#include "server/http/middleware.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "server/http/query.h"
#include "server/http/response.h"
#include "server/login/same_origin.h"
#include "server/login/session_cookie.h"

namespace svc::server {

namespace {

// An instance's report, a certificate with a password.
constexpr std::uint64_t max_untrusted_body = 64U << 10;

std::vector<Route> scrape_routes(const MetricsRegistry& metrics) {
    return {{Method::get, "/internal/1.0/metrics", Access::everyone, Dispatch::on_pool, "metrics",
             [&metrics](Request&) { return metrics_text(metrics.render()); }}};
}

}  // namespace

Middleware::Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> hypervisor,
                       std::vector<Route> managers)
    : RoutedService({{"", std::move(api)},
                     {std::string(managers_listener), std::move(managers)},
                     {std::string(metrics_listener), scrape_routes(parts.metrics)},
                     {std::string(hypervisor_listener), std::move(hypervisor)}}),
      parts_(std::move(parts)),
      http_metrics_(parts_.metrics, parts_.host),
      timer_(parts_.clock, "pace") {
    announce({Transport::unix_socket, Transport::https}, routes(""));
    announce({Transport::https}, routes(hypervisor_listener));
    announce({Transport::https}, routes(managers_listener));
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
    check_browser(request);
    parts_.authenticator.check(request.route->access, request);
    if (request.route->access == Access::token && request.headers.find("Authorization")) check_token(request);
}

// Browsers reach the service by TLS alone.
void Middleware::check_browser(const Request& request) const {
    if (request.peer->listener != tls_listener) return;
    check_origin(request, parts_.authenticator.session(session_secret(request)) != nullptr);
}

// What an instance says of itself, it says with its own token.
void Middleware::check_token(const Request& request) const {
    const std::string sender = token_instance(request, parts_.tokens, parts_.instance_exists);
    const auto reported = request.params.find("id");
    if (request.method == Method::patch && reported != request.params.end() && reported->second != sender)
        throw Error(ErrorCode::forbidden, "Not Authorized");
}

// Only octet-streams are uploads. All other bodies are read into memory: JSON, whatever content type they
// have. What managers send each other is as their routes say.
void Middleware::adapt(const Request& request, RequestPlan& plan) {
    if (parts_.authenticator.is_manager(*request.peer)) return;
    if (!is_octet_stream(request)) plan.open_upload = {};
    if (plan.open_upload) plan.max_body = parts_.max_upload;
    if (plan.dispatch == Dispatch::on_slow_pool) plan.pool = parts_.slow_workers;
    const auto identity = parts_.authenticator.identify(request);
    if (identity && identity->session && parts_.used && is_use(request)) parts_.used(*identity->session);
    const bool trusted = identity.has_value();
    if (!trusted) {
        plan.max_body = std::min(plan.max_body, max_untrusted_body);
        plan.pool = parts_.untrusted_workers;
    }
    if (parts_.detour && !plan.refusal) parts_.detour(request, plan);
    if (trusted) return;
    const Duration delay = delay_of(request);
    if (delay > Duration::zero()) plan.handler = delayed(plan, delay);
}

// Clients that are trusted with everything are not delayed: they need no flood to do harm. What another
// manager has passed on was delayed there.
Duration Middleware::delay_of(const Request& request) {
    const Peer& peer = *request.peer;
    const bool paced = peer.listener == tls_listener || peer.listener == agent_listener;
    if (!paced || !peer.forwarded_by.empty()) return Duration::zero();
    return parts_.pacer.delay(source_of(request, parts_.tokens));
}

// No thread is held while the delay passes. The body is moved and not copied.
Handler Middleware::delayed(const RequestPlan& plan, Duration delay) {
    ThreadPool& pool = plan.pool ? *plan.pool : parts_.workers;
    return [this, &pool, handler = plan.handler, delay](Request& request) {
        const auto room = delay_budget_.take(request);
        if (!room) throw Error(ErrorCode::exhausted, "server is too busy");
        std::string body = std::exchange(request.body, std::string());
        const auto kept = std::make_shared<Request>(request);
        kept->body = std::move(body);
        Response response;
        response.later = [this, &pool, handler, delay, kept, room](const Responder& respond) {
            timer_.after(delay, [handler, &pool, respond, kept, room] {
                const auto run = [handler, respond, kept, room] {
                    Response answer = handler(*kept);
                    answer.later ? answer.later(respond) : respond(std::move(answer));
                };
                if (!pool.post(run)) respond(failure(Error(ErrorCode::exhausted, "server is too busy")));
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
    if (parts_.counts != nullptr) parts_.counts->served(served.status);
}

std::string Middleware::requestor(const Request& request) {
    const auto identity = parts_.authenticator.identify(request);
    return identity ? identity->requestor : stranger(*request.peer);
}

}  // namespace svc::server
