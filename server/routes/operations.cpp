#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "server/http/exec_socket.h"
#include "server/http/query.h"
#include "server/http/response.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

// {"running": [...], "success": [...]}: keyed by the status text in lower case.
Response list_operations(const Services& services, const Request& request) {
    const bool records = wants_records(request);
    std::map<std::string, JsonArray> by_status;
    for (const auto& operation : services.engine.list())
        by_status[to_lower(to_text(operation->status))].push_back(
            records ? to_json(*operation) : Json(operation_url(operation->id)));
    Json all = Json::object();
    for (auto& [status, items] : by_status) all.set(status, Json(std::move(items)));
    return sync(all);
}

Response show_operation(const Services& services, const Request& request) {
    return sync(to_json(*services.engine.get(request.params.at("id"))));
}

Response cancel_operation(const Services& services, const Request& request) {
    services.engine.cancel(request.params.at("id"));
    Response response = sync(Json::object());
    response.status = 202;
    return response;
}

// Answers with the record when the operation is final, or after the timeout. Holds no thread meanwhile.
Response wait_for_operation(const Services& services, const Request& request) {
    services.engine.get(request.params.at("id"));
    Response response;
    response.later = [&engine = services.engine, id = request.params.at("id"),
                      limit = wait_limit(request)](const Responder& respond) {
        engine.when_final(id, limit, [respond](const std::shared_ptr<const Operation>& operation) {
            respond(sync(to_json(*operation)));
        });
    };
    return response;
}

Response open_websocket(const Services& services, const Request& request) {
    return exec_socket(services.exec, request, request.params.at("id"), request.query_value("secret"));
}

}  // namespace

std::vector<Route> operation_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](Response (*handler)(const Services&, const Request&)) {
        return [services, handler](Request& request) { return handler(services, request); };
    };
    const std::string one = "/1.0/operations/{id}";
    return {
        {Method::get, "/1.0/operations", viewer, on_pool, "operations", call(list_operations)},
        {Method::get, one, viewer, on_io_thread, "operation", call(show_operation)},
        {Method::delete_, one, operator_, on_pool, "operation", call(cancel_operation)},
        {Method::get, one + "/wait", viewer, on_pool, "operation_wait", call(wait_for_operation)},
        {Method::get, one + "/websocket", secret, on_io_thread, "operation_websocket", call(open_websocket)},
    };
}

}  // namespace svc::server
