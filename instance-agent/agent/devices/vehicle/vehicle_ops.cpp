#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "instance-agent/agent/devices/vehicle/vehicle.h"
#include "libsvc/base/error.h"

namespace svc::agent {

namespace {

using Members = std::function<Json(const PropertyValue&)>;

[[noreturn]] void refuse_request(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

void check_control(const GuestSessionPtr& session) {
    if (!session->may_control()) throw Error(ErrorCode::forbidden, "permission denied");
}

// Absent is empty.
const JsonArray& array_of(const Json& object, std::string_view key) {
    static const JsonArray none;
    const Json* array = object.find(key);
    if (array == nullptr || array->is_null()) return none;
    if (!array->is_array()) refuse_request("Invalid value for field '" + std::string(key) + "'");
    return array->as_array();
}

// Each as a member of an object, so that one reader serves all.
std::int32_t id_of(const Json& id, const std::string& key) {
    return read_id(Json::object({{key, id}}), key, std::nullopt);
}

std::vector<PropertyId> ids_of(const Json& request) {
    std::vector<PropertyId> ids;
    for (const Json& id : array_of(request, "props")) ids.push_back(id_of(id, "props"));
    return ids;
}

Json late_answer(const Json& id, const VehicleOutcome& outcome, const Members& members) {
    try {
        if (outcome.error) std::rethrow_exception(outcome.error);
        Json answer = Json::object({{"id", id}, {"ok", true}});
        const Json own = members(outcome.value);
        for (const auto& [key, value] : own.as_object()) answer.set(key, value);
        return answer;
    } catch (const std::exception& e) {
        return Json::object({{"id", id}, {"ok", false}, {"error", e.what()}});
    }
}

GuestAnswer respond(VehicleService::Answer answer, const GuestSessionPtr& session, const Json& request,
                    const Members& members) {
    if (answer.now) return {members(*answer.now), {}};
    const Json* id = request.find("id");
    answer.later([session, id = id != nullptr ? *id : Json(), members](const VehicleOutcome& outcome) {
        if (!id.is_null()) session->send_answer(late_answer(id, outcome, members));
    });
    return {Json::object(), {}, true};
}

Json value_member(const PropertyValue& value) {
    return Json::object({{"value", to_json(value)}});
}

GuestAnswer get_configs(VehicleService& service, const GuestSessionPtr&, const JsonFields& request) {
    const bool wants_all = request.raw("props") == nullptr;
    Json items = Json::array();
    for (const auto& config : wants_all ? service.configs() : service.configs(ids_of(request.value())))
        items.push_back(to_json(config));
    return {Json::object({{"configs", std::move(items)}}), {}};
}

GuestAnswer get_value(VehicleService& service, const GuestSessionPtr& session, const JsonFields& request) {
    const PropertyId prop = read_id(request.value(), "prop", std::nullopt);
    const AreaId area = read_id(request.value(), "area_id", 0);
    const PropertyValues with = read_values(request.value()).values;
    return respond(service.get(session, prop, area, with), session, request.value(), value_member);
}

GuestAnswer set_value(VehicleService& service, const GuestSessionPtr& session, const JsonFields& request) {
    check_control(session);
    PropertyValue value = read_set(request.value(), "prop", ValueFields::optional);
    return respond(service.set(session, std::move(value)), session, request.value(),
                   [](const PropertyValue&) { return Json::object(); });
}

VehicleService::Wish wish_of(const Json& item) {
    if (!item.is_object()) refuse_request("Invalid value for field 'props'");
    VehicleService::Wish wish;
    wish.prop = read_id(item, "prop", std::nullopt);
    for (const Json& area : array_of(item, "area_ids")) wish.areas.push_back(id_of(area, "area_ids"));
    const Json* rate = item.find("sample_rate");
    if (rate == nullptr || rate->is_null()) return wish;
    if (!rate->is_number() || rate->as_double() < 0) refuse_request("Invalid value for field 'sample_rate'");
    wish.rate = rate->as_double();
    return wish;
}

GuestAnswer subscribe(VehicleService& service, const GuestSessionPtr& session, const JsonFields& request) {
    std::vector<VehicleService::Wish> wishes;
    for (const Json& item : array_of(request.value(), "props")) wishes.push_back(wish_of(item));
    if (wishes.empty()) refuse_request("Missing field 'props'");
    service.subscribe(session, wishes);
    return {};
}

GuestAnswer unsubscribe(VehicleService& service, const GuestSessionPtr& session, const JsonFields& request) {
    service.unsubscribe(session, ids_of(request.value()));
    return {};
}

GuestAnswer provide(VehicleService& service, const GuestSessionPtr& session, const JsonFields& request) {
    check_control(session);
    std::vector<PropertyConfig> configs;
    for (const Json& item : array_of(request.value(), "configs")) configs.push_back(read_config(item));
    if (configs.empty()) refuse_request("Missing field 'configs'");
    service.provide(session, std::move(configs));
    return {};
}

GuestAnswer reply(VehicleService& service, const GuestSessionPtr& session, const JsonFields& request) {
    const auto id = request.require_int("reply_to");
    const auto status = request.require_int("status");
    service.reply(session, static_cast<std::uint64_t>(id), status, request.raw("value"));
    return {};
}

}  // namespace

std::map<std::string, GuestOp> vehicle_ops(VehicleService& service) {
    using Op = GuestAnswer (*)(VehicleService&, const GuestSessionPtr&, const JsonFields&);
    const auto bound = [&service](Op op) -> GuestOp {
        return [&service, op](const GuestSessionPtr& session, const JsonFields& request) {
            return op(service, session, request);
        };
    };
    return {{"vhal.configs", bound(get_configs)},
            {"vhal.get", bound(get_value)},
            {"vhal.set", bound(set_value)},
            {"vhal.subscribe", bound(subscribe)},
            {"vhal.unsubscribe", bound(unsubscribe)},
            {"vhal.provide", bound(provide)},
            {"vhal.reply", bound(reply)}};
}

}  // namespace svc::agent
