#include "libsvc/services/instances/end/evacuation_plan.h"

#include <utility>

namespace svc {

namespace {

EvacuationMode parse_mode(std::string_view text) {
    if (text == "stop") return EvacuationMode::stop;
    if (text == "delete") return EvacuationMode::remove;
    if (text == "relaunch") return EvacuationMode::relaunch;
    throw_invalid("mode", "must be stop, delete or relaunch");
}

Json move_to_json(const EvacuationMove& move) {
    Json json = Json::object({{"instance", move.instance}});
    if (!move.name.empty()) json.set("name", move.name);
    if (!move.successor.empty()) json.set("successor", move.successor);
    if (!move.outcome.empty()) json.set("outcome", move.outcome);
    return json;
}

EvacuationMove move_from_json(const JsonFields& fields) {
    return {.instance = fields.require_string("instance"),
            .name = fields.string("name").value_or(""),
            .successor = fields.string("successor").value_or(""),
            .outcome = fields.string("outcome").value_or("")};
}

}  // namespace

EvacuationMode parse_evacuation(const Json& body) {
    return parse_mode(JsonFields(body).string("mode").value_or("stop"));
}

std::string_view to_text(EvacuationMode mode) {
    switch (mode) {
        case EvacuationMode::stop:
            return "stop";
        case EvacuationMode::remove:
            return "delete";
        default:
            return "relaunch";
    }
}

Json EvacuationPlan::to_json() const {
    JsonArray all;
    for (const EvacuationMove& move : moves) all.push_back(move_to_json(move));
    return Json::object({{"moves", std::move(all)}});
}

EvacuationMode evacuation_mode(const Operation& operation) {
    return parse_mode(JsonFields(operation.arguments).require_string("mode"));
}

std::optional<EvacuationPlan> evacuation_plan(const Operation& operation) {
    const auto moves = JsonFields(operation.arguments).objects("moves");
    if (!moves) return std::nullopt;
    EvacuationPlan plan{evacuation_mode(operation)};
    for (const JsonFields& move : *moves) plan.moves.push_back(move_from_json(move));
    return plan;
}

}  // namespace svc
