#include "instance-agent/agent/control/root_routes.h"

#include "instance-agent/agent/control/envelope.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

Response server_info(const std::vector<std::string>& extensions, const std::string& log_level) {
    return success(Json::object({{"api_extensions", JsonArray(extensions.begin(), extensions.end())},
                                 {"api_status", "stable"},
                                 {"api_version", "1.0"},
                                 {"log_level", log_level}}));
}

Response change_settings(const Request& request, LogSetting& log_setting) {
    const Json body = body_of(request);
    if (!body.is_object()) throw Error(ErrorCode::invalid_argument, "Request body must be an object");
    const Json* level = body.find("log_level");
    if (level == nullptr || level->is_null())
        throw Error(ErrorCode::invalid_argument, "Missing field 'log_level'");
    if (!level->is_string()) throw Error(ErrorCode::invalid_argument, "Invalid value for field 'log_level'");
    log_setting.set(level->as_string());
    return success();
}

Response metrics_text(const MetricsRegistry& metrics) {
    Response response;
    response.headers.set("Content-Type", "text/plain; version=0.0.4");
    response.body = metrics.render();
    return response;
}

}  // namespace

std::vector<Route> root_routes(std::function<std::vector<std::string>()> extensions, LogSetting& log_setting,
                               const MetricsRegistry& metrics) {
    std::vector<Route> routes;
    routes.push_back(Route{Method::get, "/1.0", Access::everyone, Dispatch::on_io_thread, "service",
                           [extensions = std::move(extensions), &log_setting](Request&) {
                               return server_info(extensions(), log_setting.name());
                           }});
    routes.push_back(
        Route{Method::patch, "/1.0", Access::everyone, Dispatch::on_pool, "service",
              [&log_setting](Request& request) { return change_settings(request, log_setting); }});
    routes.push_back(Route{Method::get, "/1.0/metrics", Access::everyone, Dispatch::on_pool, "metrics",
                           [&metrics](Request&) { return metrics_text(metrics); }});
    return routes;
}

}  // namespace svc::agent
