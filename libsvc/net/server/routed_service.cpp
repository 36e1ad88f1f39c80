#include "libsvc/net/server/routed_service.h"

#include <optional>

#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

// Lines that are logged while it is alive have the request's id.
class RequestLogScope {
  public:
    explicit RequestLogScope(const Request& request) {
        if (!request.id.empty()) scope_.emplace(log::Field("request", request.id));
    }

  private:
    std::optional<log::Scope> scope_;
};

// A body would be read and never be looked at.
bool takes_body(Method method) {
    return method != Method::get && method != Method::head && method != Method::options;
}

// What decorate() may look at when a reply comes later: all but the body.
std::shared_ptr<const Request> without_body(const Request& request) {
    auto copy = std::make_shared<Request>(request);
    copy->body.clear();
    copy->upload.reset();
    return copy;
}

}  // namespace

RoutedService::RoutedService(std::vector<Table> tables, Error no_route) : no_route_(std::move(no_route)) {
    for (Table& table : tables) routers_.emplace_back(std::move(table.listener), std::move(table.routes));
}

const Route* RoutedService::unlisted_route(const Request&, bool) {
    return nullptr;
}

void RoutedService::begin(const Request&) {}

void RoutedService::check(const Request&) {}

void RoutedService::adapt(const Request&, RequestPlan&) {}

void RoutedService::decorate(const Request&, Response&) {}

void RoutedService::end(const Request&, const ServedRequest&) {}

std::string_view RoutedService::label(const Request& request) {
    return request.route ? std::string_view(request.route->label) : no_route_label;
}

const Router* RoutedService::router(std::string_view listener) const {
    const Router* of_all = nullptr;
    for (const auto& [name, router] : routers_) {
        if (name == listener) return &router;
        if (name.empty()) of_all = &router;
    }
    return of_all;
}

const std::vector<Route>& RoutedService::routes(std::string_view listener) const {
    const Router* found = router(listener);
    if (!found) throw Error(ErrorCode::internal, "listener " + quoted(listener) + " has no routes");
    return found->routes();
}

RequestPlan RoutedService::plan(Request& request) {
    request.id = new_id();
    request.requestor = requestor(request);
    const Router* table = router(request.peer->listener);
    Router::Match match = table ? table->match(request.method, request.path) : Router::Match();
    request.route = match.route ? match.route : unlisted_route(request, match.path_known);
    request.params = std::move(match.params);
    begin(request);
    RequestPlan plan = checked(request);
    adapt(request, plan);
    return plan;
}

RequestPlan RoutedService::checked(const Request& request) {
    try {
        if (!request.route) throw Error(no_route_);
        check(request);
        return accepted(*request.route);
    } catch (const Error&) {
        return refused(std::current_exception());
    }
}

RequestPlan RoutedService::accepted(const Route& route) {
    RequestPlan plan;
    plan.dispatch = route.dispatch;
    plan.max_body = takes_body(route.method) || route.reads_body ? route.max_body : 0;
    plan.open_upload = route.open_upload;
    plan.handler = [this, &route](Request& request) { return run(route.handler, request); };
    return plan;
}

RequestPlan RoutedService::refused(std::exception_ptr reason) {
    RequestPlan plan;
    plan.dispatch = Dispatch::on_io_thread;
    plan.refusal = reason;
    plan.handler = [this, reason = std::move(reason)](Request& request) {
        return run([&](Request&) -> Response { std::rethrow_exception(reason); }, request);
    };
    return plan;
}

Response RoutedService::run(const Handler& handler, Request& request) {
    const RequestLogScope scope(request);
    try {
        return finished(request, handler(request));
    } catch (const std::exception& e) {
        return finished(request, reply_to(e));
    }
}

Response RoutedService::finished(const Request& request, Response response) {
    decorate(request, response);
    if (!response.later) return response;
    response.later = [this, later = std::move(response.later),
                      kept = without_body(request)](const Responder& respond) {
        const RequestLogScope scope(*kept);
        later([this, respond, kept](Response answer) { respond(finished(*kept, std::move(answer))); });
    };
    return response;
}

Response RoutedService::fault(const Request* request, const std::exception& error) {
    if (!request) return reply_to(error);
    const RequestLogScope scope(*request);
    return finished(*request, reply_to(error));
}

// The log has the path without the query, which may have a token in it.
void RoutedService::done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                         std::chrono::nanoseconds duration) {
    end(request, {status, received, sent, duration});
    if (request.id.empty() || log::level() > log::Level::debug) return;
    log::Fields fields{{"request", request.id}};
    if (!request.requestor.empty()) fields.emplace_back("from", request.requestor);
    fields.insert(fields.end(), {{"method", request.method_text},
                                 {"path", request.path},
                                 {"status", std::to_string(status)},
                                 {"duration", format_duration(duration)}});
    log::debug("request served", fields);
}

}  // namespace svc
