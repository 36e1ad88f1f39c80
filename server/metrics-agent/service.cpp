#include "server/metrics-agent/service.h"

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc::metrics_agent {

namespace {

// Bytes. Every connection may hold one batch; together they must stay below the memory limit of the systemd
// unit.
constexpr std::uint64_t max_batch = std::uint64_t{64} << 10U;

Response failure(int status, std::string_view message) {
    return json_response(status, Json::object({{"error", message}}).dump() + "\n");
}

Response nothing() {
    Response response;
    response.status = 204;
    return response;
}

// The good lines of a batch are taken even when others are wrong.
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

Service::Service(Collector& collector)
    : RoutedService({{std::string(write_listener), write_routes(collector)},
                     {std::string(scrape_listener), scrape_routes(collector)}}) {}

Response Service::reply_to(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    if (!known) return failure(500, "internal error");
    return failure(known->code() == ErrorCode::not_found ? 404 : 400, known->what());
}

}  // namespace svc::metrics_agent
