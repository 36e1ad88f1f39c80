#include "server/gateway/middleware.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "server/gateway/response.h"
#include "server/http/refusal.h"

namespace svc::gateway {

namespace {

constexpr std::string_view no_route = "not_found";  // labels of what is in no table
constexpr std::string_view preflight = "preflight";

// The gateway cannot answer yet, or any more: 503.
struct NotServing : Error {
    explicit NotServing(Phase phase)
        : Error(ErrorCode::unavailable,
                phase == Phase::starting ? "gateway is starting" : "gateway is stopping") {}
};

Response answer_to(const std::exception& error) {
    if (dynamic_cast<const NotServing*>(&error) == nullptr) return failure(error);
    Response response = refusal(503, error.what());
    response.headers.set("Retry-After", "1");
    return response;
}

}  // namespace

Middleware::Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> metrics)
    : parts_(parts), api_(std::move(api)), metrics_(std::move(metrics)) {
    for (const Router* router : {&api_, &metrics_})
        for (const Route& route : router->routes()) parts_.metrics.announce(route.label, route.method);
}

const Router& Middleware::router(const Request& request) const {
    return request.peer->listener == metrics_listener ? metrics_ : api_;
}

std::string_view Middleware::label(const Request& request) const {
    const Router::Match match = router(request).match(request.method, request.path);
    if (match.route) return match.route->label;
    return request.method == Method::options && match.path_known ? preflight : no_route;
}

Router::Match Middleware::find(const Request& request) const {
    Router::Match match = router(request).match(request.method, request.path);
    if (!match.route) throw Error(ErrorCode::not_found, "not found");
    const Phase phase = parts_.phase;
    if (phase != Phase::serving && &router(request) == &api_) throw NotServing(phase);
    parts_.authenticator.check(match.route->access, request);
    return match;
}

// Browsers want to see who may read it in every answer, refusals too.
Response Middleware::finished(const Request& request, Response response) {
    parts_.cors.decorate(request, response);
    response.headers.set("X-Content-Type-Options", "nosniff");
    if (response.websocket)
        response.websocket = parts_.metrics.counted(std::move(response.websocket), label(request));
    if (!response.later) return response;
    response.later = [this, later = std::move(response.later), request](const Responder& respond) {
        const log::Scope scope({"request", request.id});
        later([this, respond, request](Response answer) { respond(finished(request, std::move(answer))); });
    };
    return response;
}

Response Middleware::run(const Handler& handler, Request& request) {
    const log::Scope scope({"request", request.id});
    try {
        return finished(request, handler(request));
    } catch (const std::exception& e) {
        return finished(request, answer_to(e));
    }
}

RequestPlan Middleware::accepted(const Route& route) {
    RequestPlan plan;
    plan.dispatch = route.dispatch;
    plan.max_body = route.max_body;
    plan.handler = [this, &route](Request& request) { return run(route.handler, request); };
    return plan;
}

RequestPlan Middleware::plan(Request& request) {
    request.id = parts_.ids.object_id();
    parts_.metrics.begin();
    try {
        if (label(request) == preflight) {
            RequestPlan plan;
            plan.dispatch = Dispatch::on_io_thread;
            plan.handler = [this](Request& asked) {
                return run([](Request&) { return Cors::preflight(); }, asked);
            };
            return plan;
        }
        Router::Match match = find(request);
        request.params = std::move(match.params);
        return accepted(*match.route);
    } catch (const Error&) {
        const auto answer = [this](const Handler& handler, Request& asked) { return run(handler, asked); };
        return server::refused(request, std::current_exception(), answer);
    }
}

Response Middleware::fault(const Request* request, const std::exception& error) {
    if (!request) return failure(error);
    const log::Scope scope({"request", request->id});
    return finished(*request, answer_to(error));
}

// The path alone is told: the query may have a token in it.
void Middleware::done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                      std::chrono::nanoseconds duration) {
    parts_.metrics.end();
    if (status != 101)
        parts_.metrics.count(label(request), request.method, {status, received, sent, duration});
    if (log::level() > log::Level::debug) return;
    log::debug("request served", {{"request", request.id},
                                  {"method", request.method_text},
                                  {"path", request.path},
                                  {"status", std::to_string(status)},
                                  {"duration", format_duration(duration)}});
}

}  // namespace svc::gateway
