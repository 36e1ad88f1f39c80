#include "server/metrics-agent/service.h"

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc::metrics_agent {

namespace {

// Every connection may hold one: together they must not be more than the unit may use.
constexpr std::uint64_t max_batch = std::uint64_t{64} << 10U;

Response failure(int status, std::string_view message) {
    return json_response(status, Json::object({{"error", message}}).dump() + "\n");
}

Response nothing() {
    Response response;
    response.status = 204;
    return response;
}

// Good lines of a batch are taken even if another one is not.
Response write(Collector& collector, const Request& request) {
    const std::string problem =
        collector.take(request.body, request.peer->address, Collector::Transport::http);
    return problem.empty() ? nothing() : failure(400, problem);
}

Response scrape(Collector& collector) {
    Response response;
    response.headers.set("Content-Type", "text/plain; version=0.0.4");
    response.body = collector.render();
    return response;
}

std::vector<Route> write_routes(Collector& collector) {
    using enum Dispatch;
    return {
        {Method::post, "/write", Access::everyone, on_pool, "write",
         [&collector](Request& request) { return write(collector, request); }, max_batch},
        {Method::get, "/ping", Access::everyone, on_io_thread, "ping", [](Request&) { return nothing(); }}};
}

std::vector<Route> scrape_routes(Collector& collector) {
    std::vector<Route> routes;
    for (const char* path : {"/metrics", "/1.0/metrics"})
        routes.push_back({Method::get, path, Access::everyone, Dispatch::on_pool, "metrics",
                          [&collector](Request&) { return scrape(collector); }});
    return routes;
}

}  // namespace

Service::Service(Collector& collector) : write_(write_routes(collector)), scrape_(scrape_routes(collector)) {}

RequestPlan Service::plan(Request& request) {
    const Router& router = request.peer->listener == write_listener ? write_ : scrape_;
    const Route* route = router.match(request.method, request.path).route;
    if (!route)
        return {Dispatch::on_io_thread, max_batch, {}, [](Request&) { return failure(404, "not found"); }};
    return {route->dispatch, route->max_body, {}, route->handler};
}

Response Service::fault(const Request*, const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    return known ? failure(400, known->what()) : failure(500, "internal error");
}

}  // namespace svc::metrics_agent
