#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "instance-agent/agent/devices/vehicle/vehicle.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {

namespace {

using ToResponse = std::function<Response(const PropertyValue&)>;

Response response_of(const VehicleOutcome& outcome, const ToResponse& to_response) {
    if (!outcome.error) return to_response(outcome.value);
    try {
        std::rethrow_exception(outcome.error);
    } catch (const std::exception& e) {
        return failure(e);
    }
}

// A provider's answer is awaited without a thread.
Response respond(VehicleService::Answer answer, const ToResponse& to_response) {
    if (answer.now) return to_response(*answer.now);
    Response response;
    response.later = [later = std::move(answer.later), to_response](const Responder& responder) {
        later([responder, to_response](const VehicleOutcome& outcome) {
            responder(response_of(outcome, to_response));
        });
    };
    return response;
}

std::vector<PropertyId> ids_of(const std::string& text) {
    std::vector<PropertyId> ids;
    for (const std::string& part : split(text, ',')) ids.push_back(parse_property_id(part));
    return ids;
}

Response respond(const std::vector<PropertyConfig>& configs) {
    Json items = Json::array();
    for (const PropertyConfig& config : configs) items.push_back(to_json(config));
    return success(Json::object({{"configs", std::move(items)}}));
}

Response get_value(VehicleService& service, const Request& request) {
    const PropertyId prop = parse_property_id(request.params.at("prop"));
    const auto area = request.params.find("area");
    const AreaId area_id = area != request.params.end() ? parse_area_id(area->second) : 0;
    PropertyValues with;
    if (!request.body.empty()) with = read_values(body_of(request)).values;
    return respond(service.get(nullptr, prop, area_id, with), [](const PropertyValue& value) {
        return success(Json::object({{"value", to_json(value)}}));
    });
}

Response put_value(VehicleService& service, const Request& request) {
    return respond(service.set(nullptr, read_set(body_of(request), "prop_id")),
                   [](const PropertyValue&) { return success(); });
}

// The value that a client asks for is described in the body of its GET.
Route with_body(Route route) {
    route.reads_body = true;
    return route;
}

}  // namespace

// Memory alone is touched, but a large body takes its time: reading and writing run on the pool.
std::vector<Route> vehicle_routes(VehicleService& service) {
    const auto get = [&service](Request& request) { return get_value(service, request); };
    const auto put = [&service](Request& request) { return put_value(service, request); };
    const auto all = [&service](Request&) { return respond(service.configs()); };
    const auto some = [&service](Request& request) {
        return respond(service.configs(ids_of(request.params.at("ids"))));
    };
    return {
        {Method::put, "/1.0/vhal", Access::everyone, Dispatch::on_pool, "vhal", put},
        with_body({Method::get, "/1.0/vhal/{prop}", Access::everyone, Dispatch::on_pool, "vhal", get}),
        with_body({Method::get, "/1.0/vhal/{prop}/{area}", Access::everyone, Dispatch::on_pool, "vhal", get}),
        {Method::get, "/1.0/vhal/config", Access::everyone, Dispatch::on_pool, "vhal_config", all},
        {Method::get, "/1.0/vhal/config/{ids}", Access::everyone, Dispatch::on_pool, "vhal_config", some}};
}

}  // namespace svc::agent
